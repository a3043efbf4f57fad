import { json } from "@a2a-connect/core";
import { createEngineHarness, createFakeClock } from "@a2a-connect/testing";
import { expect, it, vi } from "vitest";
import { detached } from "../../test-support/tasks.ts";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { Emitter } from "./emitter.ts";

const rows = Array.from({ length: 1_000 }, (_, at) => ({ name: `row ${at}` }));

it.each([
  ["artifacts of turns", false, "artifact"],
  ["last messages of turns", false, "complete"],
  ["artifacts of durable tasks", true, "artifact"],
  ["last messages of durable tasks", true, "complete"],
] as const)(
  "%s are taken a few in a turn of the event loop, when hundreds have waited for the same",
  async (_, durable, kind) => {
    const fake = createFakeClock();
    let ticks = 0;
    const clock = { ...fake, ticks: () => ticks };
    const moment = Promise.withResolvers<void>();
    const execute = async function* (tools: Parameters<NonNullable<AgentDefinition["execute"]>>[0]) {
      yield tools.working();
      await moment.promise;
      if (kind === "artifact") yield tools.artifact({ data: rows });
      else yield tools.complete([json(rows)]);
    };
    const agent: AgentDefinition = durable
      ? { card: { name: "Agent" }, durable, execute: (task) => execute(task as never) }
      : { card: { name: "Agent" }, execute };
    const { client } = await createEngineHarness({ agent, clock });
    for (let sent = 0; sent < 100; sent += 1) await client.sendMessage(detached("go"));
    await fake.settle();

    let [inTurn, most, taken] = [0, 0, 0];
    const count = () => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      [inTurn, taken] = [inTurn + 1, taken + 1];
      most = Math.max(most, inTurn);
      ticks += 3; // it takes so long
    };
    const { artifact, status } = Emitter.prototype;
    vi.spyOn(Emitter.prototype, "artifact").mockImplementation(function (this: Emitter, event) {
      count();
      return artifact.call(this, event);
    });
    vi.spyOn(Emitter.prototype, "status").mockImplementation(function (this: Emitter, event) {
      count();
      status.call(this, event);
    });
    moment.resolve();
    await fake.settle();
    expect(taken).toBe(100);
    expect(most).toBeLessThan(50);
  },
);
