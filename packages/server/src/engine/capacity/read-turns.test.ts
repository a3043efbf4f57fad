import { setImmediate as nextTurn } from "node:timers/promises";
import { ReadTurns, type TurnOptions } from "@a2a-connect/core/internal";
import { createEngineHarness, readStream, say, taskOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { defineAgent } from "../../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";

/** Passes what a store answers on a turn later, and counts how many such answers are awaited at a time. */
function countRunning() {
  const counts = { running: 0, most: 0 };
  const slow = async <Result>(result: Promise<Result>): Promise<Result> => {
    counts.running += 1;
    counts.most = Math.max(counts.most, counts.running);
    await new Promise((resolve) => setImmediate(resolve));
    counts.running -= 1;
    return result;
  };
  return { counts, slow };
}

/** Reads that end when a test says so. */
function setUp(max: number, options?: TurnOptions) {
  const turns = new ReadTurns(max, options);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const read = (name: string, share?: string, signal?: AbortSignal) =>
    turns.run({ share, signal: signal && (() => signal) }, async () => {
      begun.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      await promise;
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { read, begun, end };
}

describe("the turns of reads", () => {
  it("let a bounded number run, half of them at most for one caller, and the last for one that has none", async () => {
    const { read, begun, end } = setUp(4);
    for (const name of ["a1", "a2", "a3", "a4"]) void read(name, "alice");
    for (const name of ["b1", "c1", "c2"]) void read(name, name[0]);
    expect(begun).toEqual(["a1", "a2", "b1", "c1"]);
    await end("b1");
    expect(begun.slice(4)).toEqual([]);
    void read("d1", "dave");
    expect(begun.slice(4)).toEqual(["d1"]);
    for (const name of ["d1", "a1"]) await end(name);
    expect(begun.slice(5)).toEqual(["a3"]);
    await end("a2");
    expect(begun.slice(6)).toEqual(["c2"]);
  });

  it("give the last place to a caller that has none any more", async () => {
    const { read, begun, end } = setUp(4);
    for (const name of ["s1", "t1", "u1", "t2", "s2"]) void read(name, name[0]);
    expect(begun).toEqual(["s1", "t1", "u1"]);
    await end("s1");
    expect(begun.slice(3)).toEqual(["t2", "s2"]);
  });

  it("go round among the callers that wait", async () => {
    const { read, begun, end } = setUp(2);
    for (const name of ["x1", "y1", "a1", "a2", "a3", "b1", "b2"]) void read(name, name[0]);
    for (const name of ["x1", "a1", "b1"]) await end(name);
    expect(begun).toEqual(["x1", "y1", "a1", "b1", "a2"]);
  });

  it("pass on when a read fails, and when the caller of a waiting one has gone", async () => {
    const { read, begun, end } = setUp(2);
    const controller = new AbortController();
    void read("a1", "alice");
    void read("b1", "bob");
    const gone = read("a2", "alice", controller.signal);
    const after = read("a3", "alice");
    controller.abort();
    await expect(gone).rejects.toMatchObject({ code: Code.Canceled });
    await expect(read("a4", "alice", controller.signal)).rejects.toMatchObject({ code: Code.Canceled });
    await end("a1");
    await end("a3");
    expect(await after).toBe("a3");
    expect(begun).toEqual(["a1", "b1", "a3"]);
    const turns = new ReadTurns(2);
    await expect(turns.run({ share: "a" }, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await turns.run({ share: "a" }, async () => "yes")).toBe("yes");
  });

  it("give a caller as many places as they are told", async () => {
    const { read, begun, end } = setUp(4, { maxOfOne: 1 });
    for (const name of ["a1", "a2", "b1", "b2", "c1"]) void read(name, name[0]);
    expect(begun).toEqual(["a1", "b1", "c1"]);
    await end("b1");
    expect(begun.slice(3)).toEqual(["b2"]);
  });

  describe("with a room for those that wait", () => {
    const room = {
      max: 16,
      comesLast: (share?: string) => share === "y" || share === "z",
      refuse: () => new Error("no room"),
    };

    it("serve callers that come last after the others", async () => {
      const { read, begun, end } = setUp(2, { room });
      for (const name of ["z1", "z2", "y1", "y2", "a1", "a2", "b1"]) void read(name, name[0]);
      for (const name of ["z1", "a1", "b1", "a2", "y1", "z2"]) await end(name);
      expect(begun).toEqual(["z1", "y1", "a1", "b1", "a2", "z2", "y2"]);
    });

    it("let an eighth of them wait for one caller", async () => {
      const { read, end } = setUp(2, { room });
      const reads = ["a1", "a2", "a3"].map((name) => read(name, "a"));
      await expect(read("a4", "a")).rejects.toThrow("no room");
      for (const name of ["a1", "a2", "a3"]) await end(name);
      expect(await Promise.all(reads)).toEqual(["a1", "a2", "a3"]);
      const more = ["a5", "a6", "a7"].map((name) => read(name, "a"));
      for (const name of ["a5", "a6", "a7"]) await end(name);
      expect(await Promise.all(more)).toEqual(["a5", "a6", "a7"]);
    });

    it("refuse the newest call of the caller that has most of them when it is full, first of those that come last", async () => {
      const { read, begun, end } = setUp(2, { room });
      const refused: string[] = [];
      const send = (name: string) => {
        read(name, name.slice(0, -1)).catch(() => refused.push(name));
      };
      for (const name of ["p1", "q1", "z1", "y1", "y2"]) send(name);
      for (const caller of ["a", "b", "c", "d", "e", "f"]) for (const at of [1, 2]) send(`${caller}${at}`);
      send("g1"); // sixteen wait
      for (const name of ["z2", "h1", "i1", "j1"]) send(name);
      for (const name of ["k1", "b3"]) send(name);
      await end("none");
      expect(refused).toEqual(["z2", "y2", "z1", "y1", "a2", "b3"]);
      await end("p1");
      expect(begun).toEqual(["p1", "q1", "a1"]);
    });
  });
});

it("gets, subscriptions and lists of many calls read the store a few at a time", async () => {
  const store = createMemoryTaskStore();
  const agent = defineAgent({
    card: { name: "Asker" },
    async *execute(turn) {
      yield turn.inputRequired("More?");
    },
  });
  const { client } = await createEngineHarness({ agent, store });
  const { id } = taskOf(await client.sendMessage({ message: say("begin").message }));
  const { counts, slow } = countRunning();
  const { find, list } = store;
  vi.spyOn(store, "find").mockImplementation((...args) => slow(find(...args)));
  vi.spyOn(store, "list").mockImplementation((...args) => slow(list(...args)));
  await Promise.all(Array.from({ length: 50 }, () => client.getTask({ id })));
  expect(counts.most).toBe(8); // small tasks, in all places for reads of tasks
  counts.most = 0;
  await Promise.all(Array.from({ length: 20 }, () => client.listTasks({})));
  expect(counts.most).toBe(2);
});

it("a task that is in memory is claimed without a read of it", async () => {
  const store = createMemoryTaskStore();
  const agent = defineAgent({
    card: { name: "Asker" },
    async *execute(turn) {
      yield turn.inputRequired("More?");
    },
  });
  const { client, clock } = await createEngineHarness({ agent, store });
  const { id } = taskOf(await client.sendMessage(say("x".repeat(10_000))));
  await clock.advance(60_000); // it has left memory
  const follower = readStream((signal) => client.subscribeToTask({ id }, { signal }));
  while (follower.events.length === 0) await nextTurn();
  const [find, claim] = [vi.spyOn(store, "find"), vi.spyOn(store, "claim")];
  await client.cancelTask({ id });
  await follower.ended;
  expect([find.mock.calls.length, claim.mock.calls.length]).toEqual([0, 1]);
});

it("push configs, their removal and their deliveries are written in the turns of their caller", async () => {
  const store = createMemoryTaskStore();
  const writes = (["putPushConfig", "moveDelivery", "deletePushConfig"] as const).map((name) =>
    vi.spyOn(store, name),
  );
  const agent = defineAgent({
    card: { name: "Asker" },
    async *execute(turn) {
      yield turn.inputRequired("More?");
    },
  });
  const { clientOf, clock } = await createEngineHarness({
    agent,
    store,
    push: { fetch: async () => new Response(), refuseUrl: () => undefined },
  });
  const alice = clientOf("alice");
  const { id: taskId } = taskOf(await alice.sendMessage(say("begin")));
  const config = { taskId, id: "a", url: "https://example.com/hook" };
  await alice.createTaskPushNotificationConfig(config);
  await alice.sendMessage(say("more", { taskId }));
  await clock.advance(1_000); // the webhook has been told
  await alice.deleteTaskPushNotificationConfig(config);
  const shares = writes.map(({ mock }) => new Set(mock.calls.map((call) => call.at(-1))));
  expect(shares).toEqual(writes.map(() => new Set(["principal: alice"])));
});

it("calls about push configs come to the store two at a time, one for each caller", async () => {
  const store = createMemoryTaskStore();
  const { clientFrom } = await createEngineHarness({
    agent: { card: { name: "Agent" }, execute: () => [] },
    store,
    push: { fetch: async () => new Response(), refuseUrl: () => undefined },
  });
  const [one, other] = [clientFrom("192.0.2.1"), clientFrom("192.0.2.2")];
  const { id: taskId } = taskOf(await one.sendMessage({ message: say("begin").message }));
  const { counts, slow } = countRunning();
  const { putPushConfig, pushConfigIds, findPushConfig, listPushConfigs, deletePushConfig } = store;
  vi.spyOn(store, "putPushConfig").mockImplementation((...args) => slow(putPushConfig(...args)));
  vi.spyOn(store, "pushConfigIds").mockImplementation((...args) => slow(pushConfigIds(...args)));
  vi.spyOn(store, "findPushConfig").mockImplementation((...args) => slow(findPushConfig(...args)));
  vi.spyOn(store, "listPushConfigs").mockImplementation((...args) => slow(listPushConfigs(...args)));
  vi.spyOn(store, "deletePushConfig").mockImplementation((...args) => slow(deletePushConfig(...args)));
  const config = { taskId, id: "a", url: "https://example.com/hook" };
  await one.createTaskPushNotificationConfig(config);
  for (const call of [
    (client: typeof one) => client.createTaskPushNotificationConfig(config),
    (client: typeof one) => client.getTaskPushNotificationConfig(config),
    (client: typeof one) => client.listTaskPushNotificationConfigs({ taskId }),
    (client: typeof one) => client.deleteTaskPushNotificationConfig(config),
  ]) {
    counts.most = 0;
    await Promise.all(Array.from({ length: 20 }, () => call(one)));
    expect(counts.most).toBe(1);
    await Promise.all(Array.from({ length: 20 }, (_, at) => call(at % 2 === 0 ? one : other)));
    expect(counts.most).toBe(2);
  }
});

it("reads that waited begin a few in a turn of the event loop, although a store in memory answers at once", async () => {
  const store = createMemoryTaskStore();
  const agent = defineAgent({
    card: { name: "Asker" },
    async *execute(turn) {
      yield turn.inputRequired("More?");
    },
  });
  const { client } = await createEngineHarness({ agent, store });
  const { id } = taskOf(await client.sendMessage({ message: say("begin").message }));
  const find = vi.spyOn(store, "find");
  const answers = Array.from({ length: 300 }, () => client.getTask({ id }));
  let most = 0;
  for (let turns = 0, before = 0; turns < 1_000 && find.mock.calls.length < 300; turns += 1) {
    await nextTurn();
    most = Math.max(most, find.mock.calls.length - before);
    before = find.mock.calls.length;
  }
  await Promise.all(answers);
  expect(find).toHaveBeenCalledTimes(300);
  expect(most).toBeLessThanOrEqual(2 * 8 + 4); // the engine's turn and the test's may be the same
});
