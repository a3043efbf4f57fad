import { text } from "@a2a-connect/core";
import { SendMessageRequestSchema, type StreamResponse, TaskState } from "@a2a-connect/proto";
import { say, taskOf, wordsOf } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { collectGarbage } from "../../test-support/collect-garbage.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { sendStream, stateOf, subscribe } from "../../test-support/tasks.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { TaskStore } from "../store/task-store.ts";

// What the specification says of it stands in packages/conformance/src/scenarios, over all wires and stores.

describe("SendStreamingMessage", () => {
  it("shows an event while the work goes on", async () => {
    const { script, clock, client } = await startScripted();
    const stream = sendStream(client);
    const { turn, yields } = await script.nextTurn();
    await yields(turn.working("soon"));
    await clock.settle();
    expect(wordsOf(stream.events)).toEqual(["task submitted", "working"]);
    expect(stream.open).toBe(true);
  });

  it("begins a follow-up with the task at WORKING and gives only what follows the message", async () => {
    const { script, client } = await startScripted();
    const first = sendStream(client);
    const one = await script.nextTurn();
    await one.yields(one.turn.append("a", "1"));
    await one.yields(one.turn.inputRequired("?"));
    await first.ended;
    const second = sendStream(client, say("yes", { taskId: one.turn.taskId }));
    const two = await script.nextTurn();
    await two.yields(two.turn.append("b", "2"));
    two.returns();
    await second.ended;
    expect(wordsOf(second.events)).toEqual(["task working", "artifact b", "completed"]);
    expect(second.events[0] && taskOf(second.events[0]).history).toHaveLength(3);
  });

  it("ends a blocking send and not the task when the client goes away", async () => {
    const { script, clock, client } = await startScripted();
    const controller = new AbortController();
    const answer = client.sendMessage(say("go"), { signal: controller.signal });
    const { turn, yields, returns } = await script.nextTurn();
    await yields(turn.working());
    await clock.settle();
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: Code.Canceled });
    returns();
    await clock.settle();
    expect(await stateOf(client, turn.taskId)).toBe(TaskState.COMPLETED);
  });
});

describe("SubscribeToTask", () => {
  it("gives a snapshot that does not change when the task goes on", async () => {
    const { startTask, clock, client } = await startScripted();
    const { id, turn, yields, returns } = await startTask();
    await yields(turn.append("a", "1"));
    await clock.settle();
    const stream = subscribe(client, id);
    await clock.settle();
    await yields(turn.append("a", "2"));
    returns();
    await stream.ended;
    expect(stream.events[0] && taskOf(stream.events[0])).toMatchObject({
      status: { state: TaskState.WORKING },
      artifacts: [{ parts: [{ content: { value: "1" } }] }],
    });
  });

  it("lets go of the task when it ends or is left: the next reader reads the store (A-26)", async () => {
    const store = createHeldStore();
    const { clock, client, startAsking } = await startScripted({}, { store });
    const { id } = await startAsking();
    const finds = store.calls.find;
    for (const leave of ["hangUp", "hangUp"] as const) {
      const stream = subscribe(client, id);
      await clock.settle();
      stream[leave]();
      await stream.ended.catch(() => {});
    }
    expect(store.calls.find).toBe(finds + 2);
  });

  it("is one task in memory for all who read it at the same time", async () => {
    const store = createHeldStore();
    const { clock, client, startAsking } = await startScripted({}, { store });
    const { id } = await startAsking();
    const finds = store.calls.find;
    const streams = [subscribe(client, id), subscribe(client, id), subscribe(client, id)];
    await clock.settle();
    expect(streams.map(({ events }) => wordsOf(events))).toEqual(streams.map(() => ["task input-required"]));
    expect(store.calls.find).toBe(finds + 1);
  });
});

describe("SubscribeToTask with the last event that the caller has", () => {
  it("reads of a task that has ended the events alone, and not the task", async () => {
    const views: string[] = [];
    const kept = createMemoryTaskStore();
    const store: TaskStore = {
      ...kept,
      find: (owner, id, view) => {
        views.push(view);
        return kept.find(owner, id, view);
      },
    };
    const { client, startTask, clock } = await startScripted({}, { store });
    const { id, turn, yields, returns } = await startTask();
    await yields(turn.append("a", "1"));
    returns();
    await clock.settle();
    views.length = 0;
    const stream = subscribe(client, id, { "last-event-id": "2" });
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["artifact a", "completed"]);
    const all = subscribe(client, id, { "last-event-id": "4" });
    await all.ended;
    expect(wordsOf(all.events)).toEqual([]);
    await expect(subscribe(client, id, { "last-event-id": "5" }).ended).rejects.toThrow("no event 5");
    await expect(subscribe(client, "other", { "last-event-id": "1" }).ended).rejects.toThrow("no such task");
    expect(views).toEqual([]);
  });
});

describe("chunks that follow one another at once", () => {
  it("share a commit each millisecond; the first is at once, and anything else hurries them", async () => {
    const store = createMemoryTaskStore();
    const sizes: number[] = [];
    const counted: TaskStore = {
      ...store,
      commit: (commit) => {
        sizes.push(commit.entries.length);
        return store.commit(commit);
      },
    };
    const { startTask, clock } = await startScripted({}, { store: counted, limits: { chunkIntervalMs: 1 } });
    const { turn, yields } = await startTask();
    await clock.advance(1);
    sizes.length = 0;
    await yields(turn.append("a", "1"));
    await clock.settle();
    expect(sizes).toEqual([1]);
    for (const chunk of ["2", "3", "4"]) {
      await yields(turn.append("a", chunk));
      await clock.settle();
    }
    expect(sizes).toEqual([1]);
    await clock.advance(1);
    expect(sizes).toEqual([1, 3]);
    await yields(turn.append("a", "5"));
    await clock.settle();
    await yields(turn.working("almost"));
    await clock.settle();
    expect(sizes).toEqual([1, 3, 2]);
    for (let at = 0; at < 64; at += 1) await yields(turn.append("a", "x"));
    await clock.settle();
    expect(sizes).toEqual([1, 3, 2, 64]);
  });
});

describe("a task that only grows", () => {
  it("is its log: no snapshot is written beside it", async () => {
    const { startTask, clock, store } = await startScripted();
    const { id, turn, yields } = await startTask();
    for (let at = 0; at < 100; at += 1) await yields(turn.append("a", "x".repeat(300)));
    await clock.settle();
    const stored = await store.find({ tenant: "", principal: "anonymous" }, id, "full");
    expect(stored?.snapshot).toBeUndefined();
    expect(stored?.tail.generation).toBeGreaterThan(100);
  });
});

describe("a reader behind the tail", () => {
  it("is served from the store, without a gap or a duplicate", async () => {
    const store = createHeldStore();
    const { startTask, client, clock } = await startScripted({}, { store, limits: { maxTailBytes: 200 } });
    const { id, turn, yields, returns } = await startTask();
    await clock.settle();
    const slow = client.subscribeToTask({ id })[Symbol.asyncIterator]();
    await slow.next();
    for (let at = 0; at < 230; at += 1) await yields(turn.append("a", `${at}`));
    await clock.settle();
    const seen: unknown[] = [];
    for (let at = 0; at < 10; at += 1) {
      const { value } = await slow.next();
      seen.push(value?.payload.value.artifact.parts[0].content.value);
    }
    expect(store.calls.events).toBeGreaterThan(0);
    for (let at = 230; at < 240; at += 1) await yields(turn.append("a", `${at}`));
    returns();
    for (let step = await slow.next(); step.done !== true; step = await slow.next()) {
      const { payload } = step.value;
      seen.push(
        payload.case === "artifactUpdate" ? payload.value.artifact?.parts[0]?.content.value : payload.case,
      );
    }
    expect(seen).toEqual([...Array.from({ length: 240 }, (_, at) => `${at}`), "statusUpdate"]);
  });

  it("is served from the store where the events have many values: in memory they take much more than their bytes", async () => {
    const store = createHeldStore();
    const { startTask, client } = await startScripted({}, { store });
    const { id, turn, yields, returns } = await startTask();
    const slow = client.subscribeToTask({ id })[Symbol.asyncIterator]();
    await slow.next();
    const table = (version: number) => Array.from({ length: 5_000 }, () => version);
    for (let version = 0; version < 4; version += 1) {
      await yields(turn.artifact({ id: "table", data: table(version) }));
    }
    returns();
    const kinds: unknown[] = [];
    for (let step = await slow.next(); step.done !== true; step = await slow.next()) {
      kinds.push(step.value.payload.case);
    }
    expect(kinds).toEqual([...Array(4).fill("artifactUpdate"), "statusUpdate"]);
    expect(store.calls.events).toBeGreaterThan(0);
  });
});

describe("an open stream that waits", () => {
  /** Opens a stream, reads so many events and asks for one more. What it had is known by weak references only. */
  const open = async (stream: AsyncIterable<StreamResponse>, most: number) => {
    const events = stream[Symbol.asyncIterator]();
    const seen: WeakRef<object>[] = [];
    for (let taken = 0; taken < most; taken += 1) {
      const { value } = await events.next();
      seen.push(new WeakRef(value.payload.value ?? value));
    }
    events.next().catch(() => {}); // it waits until the test is over
    return seen;
  };
  const areGone = (references: readonly WeakRef<object>[]) =>
    collectGarbage(() => references.every((reference) => reference.deref() === undefined));

  const additions = [
    ["", {}],
    [", with an audit", { audit: () => {} }],
  ] as const;

  it.each(additions)("keeps nothing of the task as it was when it began%s", async (_, options) => {
    const { startTask, client } = await startScripted({}, options);
    const { id, turn, yields } = await startTask();
    const seen = await open(client.subscribeToTask({ id }), 1);
    expect(await areGone(seen)).toBe(true);
    await yields(turn.append("a", "1"));
  });

  it.each(additions)("keeps nothing of the message that it was opened with%s", async (_, options) => {
    const { script, client } = await startScripted({}, { rateLimits: { streams: 9 }, ...options });
    const send = async () => {
      const request = create(SendMessageRequestSchema, say("go"));
      const opened = open(client.sendStreamingMessage(request), 2);
      const { turn, yields } = await script.nextTurn();
      await yields(turn.working());
      await opened;
      return [new WeakRef(request), new WeakRef(request.message ?? request)];
    };
    expect(await areGone(await send())).toBe(true);
  });

  it.each(additions)("keeps nothing of a message to a task that it was opened with%s", async (_, options) => {
    const { script, startTask, client } = await startScripted({}, options);
    const { id, turn, yields } = await startTask();
    await yields(turn.inputRequired("?"));
    const answer = async () => {
      const request = create(SendMessageRequestSchema, say("yes", { taskId: id }));
      const opened = open(client.sendStreamingMessage(request), 2);
      const next = await script.nextTurn();
      await next.yields(next.turn.append("a", "1"));
      await opened;
      return [new WeakRef(request), new WeakRef(request.message ?? request)];
    };
    expect(await areGone(await answer())).toBe(true);
  });

  it("keeps none of the events that it has read from the store", async () => {
    const store = createMemoryTaskStore();
    const first = await startScripted({}, { store });
    const { id, turn, yields } = await first.startTask();
    for (const name of ["a", "b", "c"]) await yields(turn.artifact({ name, parts: [text(name)] }));
    await yields(turn.authRequired("?"));
    await first.clock.settle();
    const { client } = await startScripted({}, { store });
    const stream = client.subscribeToTask({ id }, { headers: { "Last-Event-ID": "1" } });
    const seen = await open(stream, 5);
    expect(await areGone(seen)).toBe(true);
  });
});
