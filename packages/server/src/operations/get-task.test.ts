import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";

// What the specification says of it stands in packages/conformance/src/scenarios, over all wires and stores.

describe("GetTask", () => {
  it("gives status, artifacts and history of a task that runs (A-30)", async () => {
    const { startTask, client, clock } = await startScripted();
    const { id, turn, yields } = await startTask();
    await yields(turn.artifact({ id: "a", text: "1" }));
    await clock.settle();
    const task = await client.getTask({ id });
    expect(task).toMatchObject({
      id,
      status: { state: TaskState.WORKING },
      artifacts: [{ artifactId: "a" }],
    });
    expect(task.history).toHaveLength(1);
    await yields(turn.artifact({ id: "b", text: "2" }));
    await clock.settle();
    expect(task.artifacts).toHaveLength(1);
  });

  it("does not tell a foreign task from a missing one (A-30, O-4, P-4)", async () => {
    const { startTask, client, clientOf } = await startScripted();
    const { id } = await startTask();
    for (const call of [
      clientOf("eve").getTask({ id }),
      client.getTask({ id, tenant: "acme" }),
      client.getTask({ id: "nope" }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: Code.NotFound, rawMessage: "there is no such task" });
    }
  });

  it("reads the same from memory and from the log, also when it was written with snapshots", async () => {
    const { startTask, client, clock, store, server } = await startScripted();
    const { id, turn, yields } = await startTask();
    for (let at = 0; at < 60; at += 1) {
      await yields(turn.append(`a${at % 3}`, "x".repeat(300)));
      await yields(turn.artifact({ id: "replaced", text: `${at} ${"y".repeat(1_000)}` }));
      if (at % 7 === 0) await clock.settle();
    }
    await clock.settle();
    const live = await client.getTask({ id });
    const stored = await store.find({ tenant: "", principal: "anonymous" }, id, "full");
    expect(stored?.snapshot).toBeDefined();
    // What a load reads stays within a small multiple of the task, however often it was written over.
    expect(stored?.entries.length).toBeLessThan(100);
    expect(live.artifacts.map(({ parts }) => parts.length)).toEqual([20, 1, 20, 20]);
    const { client: other } = await createEngineHarness({
      agent: { card: { name: "Agent" }, execute: () => [] },
      store: { ...store, unfinished: async () => [] },
    });
    expect(await other.getTask({ id })).toEqual(live);
    expect(server.card.name).toBe("Agent");
  });
});
