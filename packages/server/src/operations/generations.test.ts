import { findA2AError } from "@a2a-connect/core";
import { versionHeader } from "@a2a-connect/core/internal";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import { type EngineHarness, type EngineHarnessOptions, say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { subscribe } from "../../test-support/tasks.ts";

const draft = { headers: { [versionHeader]: "1.1" } };

const scripted = (options: Partial<EngineHarnessOptions> = {}) =>
  startScripted({}, { protocolVersions: ["1.0", "1.1"], ...options });

/** Reads all events of a task in that version. */
const read = (client: EngineHarness["client"], id: string, version: "1.0" | "1.1") =>
  subscribe(client, id, { [versionHeader]: version, "last-event-id": "0" });

function sameObjects(one: readonly StreamResponse[], other: readonly StreamResponse[]): boolean {
  return one.length === other.length && one.every((event, at) => event === other[at]);
}

describe("events in two versions of the protocol", () => {
  it("are one object for all readers of a version, so that each is encoded once", async () => {
    const { startTask, clock, client } = await scripted();
    const { id, turn, yields, returns } = await startTask();
    // Readers that go on from an event are given nothing but events.
    const streams = [read(client, id, "1.0"), read(client, id, "1.0"), read(client, id, "1.1")] as const;
    await clock.settle();
    await yields(turn.append("a", "1"));
    returns();
    await Promise.all(streams.map(({ ended }) => ended));
    const late = read(client, id, "1.1");
    await late.ended;
    const [plain, plainToo, numbered] = streams;
    expect(plain.events).toHaveLength(4);
    expect(sameObjects(plain.events, plainToo.events)).toBe(true);
    expect(numbered.events.map(({ payload }) => payload.value)).toMatchObject(
      [1n, 2n, 3n, 4n].map((generation) => ({ generation })),
    );
    expect(plain.events.map(({ payload }) => payload.value)).toMatchObject(
      plain.events.map(() => ({ generation: 0n })),
    );
    expect(late.events).toEqual(numbered.events);
  });

  it("shares the numbered objects too while the task is at work", async () => {
    const { startTask, clock, client } = await scripted();
    const { id, turn, yields } = await startTask();
    const streams = [read(client, id, "1.1"), read(client, id, "1.1")] as const;
    await yields(turn.append("a", "1"));
    await clock.settle();
    expect(streams[0].events).toHaveLength(3);
    expect(sameObjects(streams[0].events, streams[1].events)).toBe(true);
  });
});

describe("GetTask with a generation that is known (R-3)", () => {
  it("is held for 30 s, then answered with the task as it is", async () => {
    const { startTask, client, clock } = await scripted();
    const { id } = await startTask();
    const alarms = clock.alarms;
    let answered = false;
    const polled = client.getTask({ id, currentGeneration: 2n }, draft).then((task) => {
      answered = true;
      return task;
    });
    await clock.advance(29_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    expect(answered).toBe(true);
    expect((await polled).generation).toBe(2n);
    expect(clock.alarms).toBe(alarms);
  });

  it("waits as long as `longPollMs` says, and takes its timer back when the task goes on", async () => {
    const { startTask, client, clock } = await scripted({ longPollMs: 5 });
    const { id, turn, yields } = await startTask();
    const alarms = clock.alarms;
    const polled = client.getTask({ id, currentGeneration: 2n }, draft);
    await clock.settle();
    expect(clock.alarms).toBe(alarms + 1);
    await yields(turn.append("a", "1"));
    expect((await polled).generation).toBe(3n);
    expect(clock.alarms).toBe(alarms);
    const again = client.getTask({ id, currentGeneration: 3n }, draft);
    await clock.advance(5);
    expect((await again).generation).toBe(3n);
  });

  it("sees nothing that is not durable", async () => {
    const store = createHeldStore();
    const { startTask, client, clock } = await scripted({ store });
    const { id, turn, yields } = await startTask();
    let answered = false;
    const polled = client.getTask({ id, currentGeneration: 2n }, draft).finally(() => {
      answered = true;
    });
    store.hold();
    await yields(turn.append("a", "1"));
    await clock.settle();
    expect(answered).toBe(false);
    store.release();
    expect((await polled).artifacts).toHaveLength(1);
  });

  it("ends with its caller", async () => {
    const { startTask, client, clock } = await scripted();
    const { id } = await startTask();
    const left = new AbortController();
    const alarms = clock.alarms;
    const polled = client.getTask({ id, currentGeneration: 2n }, { ...draft, signal: left.signal });
    const failure = expect(polled).rejects.toThrow("canceled");
    await clock.settle();
    left.abort();
    await failure;
    expect(clock.alarms).toBe(alarms);
  });
});

describe("a message with ifGenerationMatch (R-4)", () => {
  it("loses against one that is accepted and not durable yet, and hears of it when that is durable", async () => {
    const store = createHeldStore();
    const { startTask, client, clock } = await scripted({ store });
    const { id, turn, yields, returns } = await startTask();
    await yields(turn.inputRequired("?"));
    returns();
    await clock.settle();
    const { generation } = await client.getTask({ id }, draft);
    const send = (words: string) =>
      client.sendMessage(
        {
          ...say(words, { taskId: id }),
          configuration: { ifGenerationMatch: generation, returnImmediately: true },
        },
        draft,
      );
    await clock.settle();
    store.hold();
    const first = send("one");
    await clock.settle();
    let refused: unknown;
    const second = send("other").catch((error: unknown) => {
      refused = error;
    });
    await clock.settle();
    expect(refused).toBeUndefined();
    store.release();
    expect(taskOf(await first).status?.state).toBe(TaskState.WORKING);
    await second;
    expect(findA2AError(refused)).toMatchObject({
      reason: "TASK_GENERATION_MISMATCH",
      metadata: { taskId: id, expectedGeneration: "3", currentGeneration: "4" },
    });
  });
});
