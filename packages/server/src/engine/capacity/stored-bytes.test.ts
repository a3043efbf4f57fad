import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, readStream, reasonOf, say, taskOf } from "@a2a-connect/testing";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createFakeWebhooks } from "../../../test-support/fake-webhooks.ts";
import { defineAgent } from "../../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import { StoredBytes } from "./stored-bytes.ts";

const kibibyte = 1_024;
const large = "x".repeat(16 * kibibyte);

/** Answers with a task that asks again and again, or with a direct Message. */
const agent = defineAgent({
  card: {
    name: "Asker",
    skills: [
      { id: "turn", name: "Turn", description: "Asks." },
      {
        id: "steps",
        name: "Steps",
        description: "Stores results.",
        durable: true,
        async *execute(task) {
          yield task.working();
          for (let at = 0; at < 10; at += 1) await task.step("large", () => large);
        },
      },
      {
        id: "sleep",
        name: "Sleep",
        description: "Puts out artifacts when it wakes.",
        durable: true,
        async *execute(task) {
          const [, ms, artifacts] = String(task.message.parts[0]?.content.value).split(" ");
          yield task.working();
          await task.sleep(Number(ms));
          for (let at = 0; at < Number(artifacts); at += 1)
            yield task.artifact({ id: `a${at}`, text: large });
        },
      },
    ],
  },
  route: ({ parts }) => /^(?:steps|sleep)/.exec(String(parts[0]?.content.value))?.[0] ?? "turn",
  *execute(turn) {
    const [, artifacts] = /^artifacts (\d+)/.exec(turn.text) ?? [];
    for (let at = 0; at < Number(artifacts ?? 0); at += 1) yield turn.artifact({ id: `a${at}`, text: large });
    if (artifacts !== undefined) return;
    if (turn.text === "work and reply") yield turn.working();
    if (turn.text === "final") yield turn.complete(large);
    else if (/^reply long|and reply$/.test(turn.text)) yield turn.reply(large);
    else if (turn.text.startsWith("reply")) yield turn.reply(turn.text);
    else if (turn.text.endsWith("end")) yield turn.working();
    else yield turn.inputRequired("More?");
  },
});

/** Where owners have no names, and nothing reads the log. */
const unnamed = { nameOwner: () => "", log: () => {} };

async function start(maxShare = 7 / 8) {
  const store = createMemoryTaskStore({ maxBytes: 1_024 * kibibyte });
  const push = { fetch: createFakeWebhooks().fetch, allow: ["example.com"], maxConfigsPerTask: 1_000 };
  const harness = await createEngineHarness({ agent, store, push, limits: { maxShare } });
  const alice = harness.clientFrom("192.0.2.1");
  /** Sends messages until one is refused. Returns how many were taken. */
  const fill = async (send: (at: number) => Promise<unknown>, code: Code): Promise<number> => {
    for (let at = 0; ; at += 1) {
      const error = await send(at).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error === undefined) continue;
      expect(error).toMatchObject({ code });
      return at;
    }
  };
  return { ...harness, store, alice, bob: harness.clientFrom("192.0.2.2"), fill };
}

describe("a caller that has stored most of what there is room for", () => {
  it("gets CAPACITY, and others are served, until its tasks have expired", async () => {
    const { alice, bob, clock, log, store, fill } = await start();
    const send = () => alice.sendMessage(say(`${large} end`));
    const taken = await fill(send, Code.ResourceExhausted);
    const bytes = store.room?.() ?? expect.fail("the store has room");
    const part = bytes.used / (bytes.used + bytes.free);
    expect(part).toBeGreaterThan(0.75); // 7/8, about
    expect(part).toBeLessThan(0.95);
    expect(taskOf(await bob.sendMessage(say(large))).history).toHaveLength(1);
    await expect(alice.sendMessage(say("small"))).rejects.toMatchObject({ code: Code.ResourceExhausted });

    expect(log.filter(({ message }) => message.startsWith("a caller has stored most"))).toHaveLength(1);

    await store.expire({ finishedBefore: clock.now() + 1, now: clock.now(), limit: 10_000 });
    await clock.advance(1_000);
    expect(await fill(send, Code.ResourceExhausted)).toBeGreaterThan(taken / 2);
  });

  it("gets no further messages into its tasks", async () => {
    const { alice, fill } = await start();
    const { id } = taskOf(await alice.sendMessage(say("begin")));
    const answers = await fill(
      (at) => alice.sendMessage(say(large, { taskId: id, messageId: `m${at}` })),
      Code.ResourceExhausted,
    );
    expect(answers).toBeGreaterThan(30);
    await expect(alice.sendMessage(say("small"))).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });

  it("has the tasks FAILED that put out more, and not those of others", async () => {
    const { alice, bob } = await start();
    const sent = Array.from({ length: 20 }, () => alice.sendMessage(say("artifacts 10")));
    const tasks = (await Promise.all(sent)).map(taskOf);
    const failed = tasks.filter(({ status }) => status?.state === TaskState.FAILED);
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.map(reasonOf)).toEqual(failed.map(() => "capacity"));
    const { status } = taskOf(await bob.sendMessage(say(`${large} end`)));
    expect(status?.state).toBe(TaskState.COMPLETED);
  });

  it("has the tasks FAILED whose code ends with a long reply", async () => {
    const { alice } = await start();
    const sent = Array.from({ length: 60 }, () => alice.sendMessage(say("work and reply")));
    const tasks = (await Promise.all(sent)).map(taskOf);
    const failed = tasks.filter(({ status }) => status?.state === TaskState.FAILED);
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.map(reasonOf)).toEqual(failed.map(() => "capacity"));
  });

  it("has the tasks FAILED that end with a long message, and keeps no long reply for repeats", async () => {
    const { alice, bob, store } = await start();
    const sent = Array.from({ length: 60 }, () => alice.sendMessage(say("final")));
    const tasks = (await Promise.all(sent)).map(taskOf);
    const failed = tasks.filter(({ status }) => status?.state === TaskState.FAILED);
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.map(reasonOf)).toEqual(failed.map(() => "capacity"));
    expect(store.room?.().free).toBeGreaterThan(0);
    expect(taskOf(await bob.sendMessage(say("final"))).status?.state).toBe(TaskState.COMPLETED);

    const other = await start();
    const replies = Array.from({ length: 60 }, (_, at) =>
      other.alice.sendMessage(say("reply long"), {
        headers: { "idempotency-key": `0123456789abcdef-${at}` },
      }),
    );
    const refused = (await Promise.allSettled(replies)).filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(5);
    expect(other.store.room?.().free).toBeGreaterThan(0);
  });

  it("has no task of others FAILED that a timer has loaded", async () => {
    const { alice, bob, clock } = await start();
    const configuration = { returnImmediately: true };
    const { id } = taskOf(await bob.sendMessage({ ...say("sleep 60000 4"), configuration }));
    for (let count = 0; count < 20; count += 1) {
      await alice.sendMessage({ ...say("sleep 45000 10"), configuration });
    }
    await clock.advance(40_000); // none is in memory
    await clock.advance(40_000);
    expect((await bob.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
    const { tasks } = await alice.listTasks({ status: TaskState.FAILED });
    expect(tasks.length).toBeGreaterThan(5);
  });

  it("has the durable tasks FAILED whose steps store more", async () => {
    const { alice } = await start();
    const sent = Array.from({ length: 20 }, () => alice.sendMessage(say("steps")));
    const tasks = (await Promise.all(sent)).map(taskOf);
    const failed = tasks.filter(({ status }) => status?.state === TaskState.FAILED);
    expect(failed.length).toBeGreaterThan(5);
  });

  it("gets no further push configs, also with new tasks", async () => {
    const { alice, bob, fill } = await start();
    const config = (id: string) => ({
      id,
      url: "https://example.com/hook",
      token: "t".repeat(15 * kibibyte),
    });
    const { id: taskId } = taskOf(await alice.sendMessage(say("begin")));
    const configs = await fill(
      (at) => alice.createTaskPushNotificationConfig({ taskId, ...config(`c${at}`) }),
      Code.ResourceExhausted,
    );
    expect(configs).toBeGreaterThan(30);
    expect(taskOf(await bob.sendMessage(say("begin"))).history).toHaveLength(1);
    const other = await start();
    const tasks = await other.fill(
      () =>
        other.alice.sendMessage({
          ...say("begin"),
          configuration: { taskPushNotificationConfig: config("c") },
        }),
      Code.ResourceExhausted,
    );
    expect(tasks).toBeLessThan(64);
  });

  it("may cancel its tasks, but not with much metadata, which is stored", async () => {
    const { alice, fill, clock } = await start();
    const ids: string[] = [];
    for (let at = 0; at < 100; at += 1) {
      const configuration = { returnImmediately: true };
      ids.push(taskOf(await alice.sendMessage({ ...say("sleep 60000 0"), configuration })).id);
    }
    await clock.settle();
    const cancel = (at: number, metadata: JsonObject) => alice.cancelTask({ id: ids[at] ?? "", metadata });
    const canceled = await fill((at) => cancel(at, { why: large }), Code.ResourceExhausted);
    expect(canceled).toBeGreaterThan(10);
    const { status } = await cancel(canceled, { why: "short" });
    expect(status?.state).toBe(TaskState.CANCELED);
  });

  it("gets no further direct Messages that are kept for repeats", async () => {
    const { alice, fill } = await start();
    const replies = await fill(
      (at) =>
        alice.sendMessage(say(`reply ${large}`), {
          headers: { "idempotency-key": `0123456789abcdef-${at}` },
        }),
      Code.ResourceExhausted,
    );
    expect(replies).toBeGreaterThan(30);
  });

  it("has no tasks of others FAILED that it has subscribed to", async () => {
    const { alice, bob, clock, fill } = await start();
    const { id } = taskOf(await bob.sendMessage(say("begin")));
    await fill(() => alice.sendMessage(say(`${large} end`)), Code.ResourceExhausted);
    const followed = readStream((signal) => alice.subscribeToTask({ id }, { signal }));
    await clock.settle();
    const answered = taskOf(await bob.sendMessage(say("artifacts 2 end", { taskId: id })));
    expect(answered.status?.state).toBe(TaskState.COMPLETED);
    await followed.ended;
  });

  it("has stored what the store has not written yet, too, and others may store a little in any case", () => {
    const stored = new StoredBytes(7 / 8);
    let now = 0;
    const room = { used: 0, free: 8_000_000 };
    const storage = {
      ...unnamed,
      store: { ...createMemoryTaskStore(), room: () => room },
      clock: { ticks: () => now },
    };
    const payload = new Uint8Array(7_999_000);
    stored.accept("alice", payload.length, storage);
    stored.count("bob", 3_000, storage);
    now += 1_000; // the store tells the same again
    expect(["alice", "bob", "carol"].map((share) => stored.isExceeded(share, storage))).toEqual([
      true,
      false,
      false,
    ]);
    stored.settle([{ payload }], storage);
    now += 1_000;
    expect(stored.isExceeded("alice", storage)).toBe(false); // it was never stored
  });

  it("has its part of what the store told last when that cannot tell any more", () => {
    const stored = new StoredBytes(7 / 8);
    let [now, isLost] = [0, false];
    const room = () => {
      if (isLost) throw new Error("the file is gone");
      return { used: 0, free: 1_000_000 };
    };
    const store = { ...createMemoryTaskStore(), room };
    const storage = { ...unnamed, store, clock: { ticks: () => now } };
    stored.count("alice", 800_000, storage);
    expect(stored.isExceeded("alice", storage)).toBe(false);
    isLost = true;
    now += 1_000;
    stored.count("alice", 100_000, storage);
    expect([stored.isExceeded("alice", storage), stored.isExceeded("bob", storage)]).toEqual([true, false]);
    const other = { ...storage, store: { ...store } }; // has never told
    expect(stored.isExceeded("bob", other)).toBe(false);
  });

  it("leaves room to others also when it is not known", () => {
    const room = { used: 900_000, free: 100_000 };
    const storage = {
      ...unnamed,
      store: { ...createMemoryTaskStore(), room: () => room },
      clock: { ticks: () => 0 },
    };
    const stored = new StoredBytes(7 / 8);
    const unknown = [undefined, ""] as const;
    expect(unknown.map((share) => stored.isExceeded(share, storage))).toEqual([false, false]);
    stored.count(undefined, 60_000, storage);
    expect(unknown.map((share) => stored.isExceeded(share, storage))).toEqual([true, true]);
    expect(stored.isExceeded("bob", storage)).toBe(false);
  });

  it("has its part of each store, or of each disk that several stores share", () => {
    const stored = new StoredBytes(7 / 8);
    const storageAt = (place: string | undefined) => ({
      store: { ...createMemoryTaskStore(), room: () => ({ used: 7_100_000, free: 1_000_000, place }) },
      clock: { ticks: () => 0 },
      ...unnamed,
    });
    const first = storageAt("disk 1");
    stored.count("alice", 7_100_000, first);
    const all = [first, storageAt("disk 1"), storageAt("disk 2"), storageAt(undefined), storageAt(undefined)];
    expect(all.map((each) => stored.isExceeded("alice", each))).toEqual([true, true, false, false, false]);
    expect(all.some((each) => stored.isExceeded("bob", each))).toBe(false);
  });

  it("may store all of it where maxShare is 1", async () => {
    const { alice, store, fill } = await start(1);
    await fill(() => alice.sendMessage(say(large)), Code.Unavailable);
    expect(store.room?.().free).toBe(0);
  });
});
