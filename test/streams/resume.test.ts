import { isTerminal, text } from "@a2a-connect/core";
import type { StreamResponse } from "@a2a-connect/proto";
import { type A2AClient, type StoreKind, wires } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { openStage, untilSeen } from "./played-task.ts";

const stores: readonly StoreKind[] = ["memory", "sqlite"];
const places = stores.flatMap((store) => wires.map((wire) => ({ store, wire })));

/** Events after `after`: as many as are asked for, then the connection is cut. */
async function read(
  client: A2AClient,
  id: string,
  after: number,
  count = Number.POSITIVE_INFINITY,
): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  if (count === 0) {
    return events;
  }
  const cut = new AbortController();
  const headers = { "last-event-id": String(after) };
  for await (const event of client.subscribeToTask({ id }, { headers, signal: cut.signal })) {
    events.push(event);
    if (events.length === count) {
      cut.abort();
      break;
    }
  }
  return events;
}

describe.each(places)("a stream over $wire of a task in the $store store", ({ store, wire }) => {
  it("is whole after a cut behind any of its events and a resume (A-36)", async () => {
    await using stage = await openStage({ store });
    const client = stage.harness.clients[wire];
    const { id, play } = await stage.startTask();
    const steps = [
      () => play.turn.append("text", "a"),
      () => play.turn.append("text", "b"),
      () => play.turn.working("Nearly done.", { progress: 0.5 }),
      () => play.turn.artifact({ name: "other", parts: [text("x".repeat(3_000))] }),
      () => play.turn.append("text", "c", { last: true }),
    ];
    const total = 2 + steps.length + 1; // created, working, and completed
    const undisturbed = read(client, id, 0);
    const disturbed = Array.from({ length: total + 1 }, async (_, cut) => {
      const before = await read(client, id, 0, cut);
      return [...before, ...(await read(client, id, cut))];
    });
    for (const step of steps) {
      await play.yields(step());
    }
    play.returns();
    const transcript = await undisturbed;
    expect(transcript).toHaveLength(total);
    for (const [cut, stream] of (await Promise.all(disturbed)).entries()) {
      expect(stream, `cut after ${cut}`).toStrictEqual(transcript);
    }
  });

  it("is whole for a reader that falls behind what is in memory, is cut, and resumes (A-36)", async () => {
    const chunks = 300;
    // Room for one or two of the events: everybody who is not at the very end reads from the store.
    await using stage = await openStage({ store, limits: { maxTailBytes: 4_000 } });
    const client = stage.harness.clients[wire];
    const { id, play } = await stage.startTask();
    const cut = new AbortController();
    const headers = { "last-event-id": "1" };
    const slow = client.subscribeToTask({ id }, { headers, signal: cut.signal })[Symbol.asyncIterator]();
    const seen: StreamResponse[] = [];
    const take = async () => {
      const { value, done } = await slow.next();
      if (done !== true) {
        seen.push(value);
      }
    };
    await take();
    for (let chunk = 1; chunk <= chunks; chunk++) {
      await play.yields(play.turn.append("text", `${chunk} ${"x".repeat(2_000)}`));
    }
    play.returns();
    await untilSeen(client, id, ({ status }) => status !== undefined && isTerminal(status.state));
    for (let more = 0; more < chunks / 2; more++) {
      await take();
    }
    cut.abort();
    seen.push(...(await read(client, id, 1 + seen.length)));

    expect(seen).toStrictEqual(await read(client, id, 1));
    const numbers = seen.flatMap(({ payload }) =>
      payload.case === "artifactUpdate"
        ? [parseInt(String(payload.value.artifact?.parts[0]?.content.value), 10)]
        : [],
    );
    expect(numbers).toStrictEqual(Array.from({ length: chunks }, (_, index) => index + 1));
  });
});
