import { once } from "node:events";
import { text } from "@a2a-connect/core";
import { setAccepting } from "@a2a-connect/core/internal";
import { type SendMessageResponse, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { detached } from "../../../test-support/tasks.ts";
import type { AgentDefinition } from "../../agent/agent-definition.ts";
import type { DurableTask } from "../../agent/durable-task.ts";
import type { ArtifactEvent, StatusEvent } from "../../agent/task-event.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";

const kibibyte = 1_024;

/** What turns and durable tasks have in common. */
interface Writer {
  readonly signal: AbortSignal;
  artifact(init: { name: string; parts: readonly ReturnType<typeof text>[] }): ArtifactEvent;
  working(): StatusEvent;
}

type Work = (writer: Writer, words: string) => AsyncGenerator<ArtifactEvent | StatusEvent>;

function agentOf(durable: boolean, work: Work, inactivityTimeoutMs: number | false = false): AgentDefinition {
  const base = { card: { name: "Writer" }, inactivityTimeoutMs };
  return durable
    ? { ...base, durable, execute: (task) => work(task, task.text) }
    : { ...base, execute: (turn) => work(turn, turn.text) };
}

const chunk = (writer: Writer, index: number, bytes: number) =>
  writer.artifact({ name: `chunk ${index}`, parts: [text("x".repeat(bytes))] });

describe.each([false, true])(
  "tasks whose output takes more memory than their caller's part (durable: %s)",
  (durable) => {
    it("end one after the other, the largest first: they do not all grow together", async () => {
      let [held, most] = [0, 0];
      const agent = agentOf(durable, async function* (writer) {
        yield writer.working();
        for (let index = 0; index < 20; index += 1) {
          held += 32;
          most = Math.max(most, held);
          yield chunk(writer, index, 32 * kibibyte);
        }
        held -= 20 * 32;
      });
      const limits = { maxActiveBytes: 2_048 * kibibyte, maxUncommittedBytes: 32 * kibibyte };
      const { client, log } = await createEngineHarness({ agent, limits });
      const sent = await Promise.all(Array.from({ length: 80 }, () => client.sendMessage(detached("write"))));
      for (const answer of sent) {
        const { id } = taskOf(answer);
        await expect.poll(async () => (await client.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
      }
      expect(most).toBeLessThan(80 * 20 * 32 * 0.4);
      expect(log.filter(({ message }) => message.includes("maxActiveBytes"))).toHaveLength(1);
    });

    it("end one after the other also when all of them have waited for a turn of the event loop before the first output", async () => {
      let begun = 0;
      const all = Promise.withResolvers<void>();
      const agent = agentOf(durable, async function* (writer) {
        yield writer.working();
        begun += 1;
        yield chunk(writer, 0, 128 * kibibyte);
        await all.promise;
      });
      const limits = { maxActiveBytes: 2_048 * kibibyte };
      const { client, clock } = await createEngineHarness({ agent, limits });
      const port = {};
      setAccepting(port, true); // executors rest
      const sent = Promise.all(Array.from({ length: 100 }, () => client.sendMessage(detached("write"))));
      for (let turn = 0; turn < 10; turn += 1) await clock.nextTurn();
      expect(begun).toBe(0);
      setAccepting(port, false);
      await sent;
      await clock.settle();
      expect(begun).toBeGreaterThan(10);
      expect(begun).toBeLessThan(50);
      all.resolve();
      await clock.settle();
    });

    it("put out no more than a few large artifacts at once, also when these are their first output", async () => {
      const end = Promise.withResolvers<void>();
      const agent = agentOf(durable, async function* (writer) {
        yield chunk(writer, 0, 512 * kibibyte);
        await end.promise;
      });
      const store = createMemoryTaskStore();
      const { client, clock } = await createEngineHarness({
        agent,
        store,
        limits: { maxActiveBytes: 4_096 * kibibyte },
      });
      const port = {};
      setAccepting(port, true); // executors rest
      const sent = Promise.all(Array.from({ length: 60 }, () => client.sendMessage(detached("write"))));
      for (let turn = 0; turn < 10; turn += 1) await clock.nextTurn();
      setAccepting(port, false);
      await sent;
      await clock.settle();
      const { used = 0 } = store.room?.() ?? {};
      expect(used).toBeGreaterThan(4 * 512 * kibibyte);
      expect(used).toBeLessThan(30 * 512 * kibibyte);
      end.resolve();
      await clock.settle();
    });

    it("begin and go on although those before them wait for them", async () => {
      const last = Promise.withResolvers<void>();
      const agent = agentOf(durable, async function* (writer, words) {
        yield writer.working();
        for (let index = 0; index < 3; index += 1) yield chunk(writer, index, 100 * kibibyte);
        if (words === "last") last.resolve();
        else await last.promise;
      });
      const limits = { maxActiveBytes: 1_024 * kibibyte, maxUncommittedBytes: 32 * kibibyte };
      const { client, clock } = await createEngineHarness({ agent, limits });
      const words = [...Array.from({ length: 40 }, () => "first"), "last"];
      const sent = await Promise.all(words.map((each) => client.sendMessage(detached(each))));
      for (const answer of sent) {
        const { id } = taskOf(answer);
        const state = async () => {
          await clock.advance(10_000);
          return (await client.getTask({ id })).status?.state;
        };
        await expect.poll(state).toBe(TaskState.COMPLETED);
      }
    });

    it("are canceled while they wait, are not silent then, and hold up no other caller", async () => {
      let ended = 0;
      const work: Work = async function* (writer, words) {
        yield writer.working();
        for (let index = 0; index < 3; index += 1) yield chunk(writer, index, 100 * kibibyte);
        if (words === "hold" && !writer.signal.aborted) await once(writer.signal, "abort");
        ended += 1;
      };
      const agent = agentOf(durable, work, 60);
      const limits = { maxActiveBytes: 4_400 * kibibyte, maxUncommittedBytes: 32 * kibibyte };
      const { clientOf, clock } = await createEngineHarness({ agent, limits });
      const alice = clientOf("alice");
      const sent = await Promise.all(Array.from({ length: 40 }, () => alice.sendMessage(detached("hold"))));
      const bob = clientOf("bob");
      expect(taskOf(await bob.sendMessage(say("write"))).status?.state).toBe(TaskState.COMPLETED);
      const before = ended;
      const last = taskOf(sent[39] as SendMessageResponse).id;
      expect((await alice.cancelTask({ id: last })).status?.state).toBe(TaskState.CANCELED);
      expect(ended).toBe(before + 1);
      await clock.advance(100);
      const tasks = await Promise.all(sent.map((answer) => alice.getTask({ id: taskOf(answer).id })));
      const count = (state: TaskState) => tasks.filter(({ status }) => status?.state === state).length;
      const silent = count(TaskState.FAILED); // those whose code was, once it had put out all
      expect(silent).toBeGreaterThan(12);
      expect(silent).toBeLessThanOrEqual(16);
      expect(count(TaskState.WORKING)).toBe(40 - silent - 1);
    });

    it("go on one at a time, and seldom, when they have put out far more and do not end", async () => {
      let ready = 0;
      const agent = agentOf(durable, async function* (writer) {
        yield writer.working();
        for (let index = 0; index < 3; index += 1) yield chunk(writer, index, 100 * kibibyte);
        ready += 1;
        if (!writer.signal.aborted) await once(writer.signal, "abort");
      });
      const limits = { maxActiveBytes: 1_024 * kibibyte, maxUncommittedBytes: 32 * kibibyte };
      const { clientOf, clock } = await createEngineHarness({ agent, limits });
      const alice = clientOf("alice");
      await Promise.all(Array.from({ length: 40 }, () => alice.sendMessage(detached("write"))));
      await clock.advance(5_000);
      expect(ready).toBe(1);
      await clock.advance(10_000);
      expect(ready).toBe(2);
    });

    it("leave other callers their part of the memory", async () => {
      const agent = agentOf(durable, async function* (writer, words) {
        yield writer.working();
        if (words !== "hold") return;
        for (let index = 0; index < 3; index += 1) yield chunk(writer, index, 100 * kibibyte);
        if (!writer.signal.aborted) await once(writer.signal, "abort");
      });
      const limits = { maxActiveBytes: 1_024 * kibibyte, maxUncommittedBytes: 32 * kibibyte };
      const { clientOf } = await createEngineHarness({ agent, limits });
      const alice = clientOf("alice");
      await Promise.all(Array.from({ length: 40 }, () => alice.sendMessage(detached("hold"))));
      await expect(alice.sendMessage(say("x".repeat(20 * kibibyte)))).rejects.toThrow(
        /maxActiveBytes|memory/,
      );
      const { status } = taskOf(await clientOf("bob").sendMessage(say("x".repeat(20 * kibibyte))));
      expect(status?.state).toBe(TaskState.COMPLETED);
    });
  },
);

it("durable executors that wait leave memory at once when their caller has more than its part", async () => {
  let runs = 0;
  const agent: AgentDefinition = {
    card: { name: "Writer" },
    durable: true,
    async *execute(task) {
      runs += 1;
      yield chunk(task, 0, 100 * kibibyte);
      await task.sleep(5_000);
    },
  };
  const { client, clock } = await createEngineHarness({
    agent,
    limits: { maxActiveBytes: 1_024 * kibibyte },
  });
  const sent = await Promise.all(Array.from({ length: 20 }, () => client.sendMessage(detached("write"))));
  await clock.settle();
  expect(runs).toBe(20);
  for (const answer of sent) {
    const { id } = taskOf(answer);
    const state = async () => {
      await clock.advance(5_000);
      return (await client.getTask({ id })).status?.state;
    };
    await expect.poll(state).toBe(TaskState.COMPLETED);
  }
  expect(runs).toBeGreaterThan(20); // those that were dropped ran again
});

it.each([
  ["more memory than", false, 128],
  ["more memory than", true, 128],
  ["far more memory than", false, 512],
  ["far more memory than", true, 512],
])(
  "small tasks go on, too, beside large ones that put out small pieces for as long as they like, and have %s their caller's part (durable: %s)",
  async (_, durable, size) => {
    let isOver = false;
    const begin = Promise.withResolvers<void>();
    const agent = agentOf(durable, async function* (writer, words) {
      yield writer.working();
      if (words === "small") await begin.promise;
      if (words === "large") yield chunk(writer, 0, size * kibibyte);
      for (let index = 1; words === "large" ? !isOver : index < 4; index += 1) {
        yield chunk(writer, index, 8);
        await new Promise<void>((resolve) => void clock.schedule(50, resolve));
      }
    });
    const { client, clock } = await createEngineHarness({
      agent,
      limits: { maxActiveBytes: 2_048 * kibibyte },
    });
    await Promise.all(Array.from({ length: 4 }, () => client.sendMessage(detached("small"))));
    await clock.settle();
    await Promise.all(Array.from({ length: 18 }, () => client.sendMessage(detached("large"))));
    await clock.settle();
    begin.resolve();
    for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
    const { totalSize } = await client.listTasks({ status: TaskState.COMPLETED });
    expect(totalSize).toBe(4);
    isOver = true;
    await clock.advance(60_000);
  },
);

it("tasks that are read back go on, too, beside a large one that puts out small pieces for as long as it likes", async () => {
  let isOver = false;
  const agent = agentOf(true, async function* (writer, words) {
    if (words === "large") yield chunk(writer, 0, 9_000 * kibibyte);
    else await (writer as DurableTask).inbox.take();
    for (let index = 1; words === "large" ? !isOver : index < 4; index += 1) {
      yield chunk(writer, index, 8);
      await new Promise<void>((resolve) => void clock.schedule(50, resolve));
    }
  });
  const { client, clock } = await createEngineHarness({
    agent,
    limits: { maxActiveBytes: 2_048 * kibibyte },
  });
  const small = await Promise.all(Array.from({ length: 4 }, () => client.sendMessage(detached("small"))));
  await clock.settle();
  await client.sendMessage(detached("large"));
  await clock.advance(40_000); // the executors of the others were dropped
  for (const answer of small) {
    const { id: taskId } = taskOf(answer);
    await client.sendMessage(detached("go on", { taskId }));
  }
  for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
  const { totalSize } = await client.listTasks({ status: TaskState.COMPLETED });
  expect(totalSize).toBe(4);
  isOver = true;
  await clock.advance(60_000);
});

describe.each([false, true])(
  "executors that put out a lot when they are told to stop (durable: %s)",
  (durable) => {
    const aborted = ({ signal }: Writer) => (signal.aborted ? Promise.resolve() : once(signal, "abort"));
    const limits = { maxActiveBytes: 4_096 * kibibyte };

    it("are told so a few at a time when their caller's tasks take its part of the memory", async () => {
      let [made, isHeld] = [0, true];
      const agent = agentOf(durable, async function* (writer) {
        yield writer.working();
        await aborted(writer);
        made += 1;
        yield chunk(writer, 0, 512 * kibibyte);
        if (isHeld) await new Promise<void>((resolve) => void clock.schedule(9_000, resolve));
      });
      const { client, clock } = await createEngineHarness({ agent, limits });
      const sent = await Promise.all(Array.from({ length: 60 }, () => client.sendMessage(detached("wait"))));
      await clock.settle();
      const answers = Promise.all(sent.map((answer) => client.cancelTask({ id: taskOf(answer).id })));
      await clock.settle();
      expect(made).toBeGreaterThan(4);
      expect(made).toBeLessThan(30);
      isHeld = false;
      for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
      for (const { status, artifacts } of await answers) {
        expect([status?.state, artifacts.length]).toEqual([TaskState.CANCELED, 1]);
      }
    });

    it("put it out a few at a time when all of them have been told", async () => {
      const go = Promise.withResolvers<void>();
      const agent = agentOf(durable, async function* (writer) {
        yield writer.working();
        await aborted(writer);
        await go.promise;
        yield chunk(writer, 0, 512 * kibibyte);
        await new Promise<void>((resolve) => void clock.schedule(5_000, resolve));
      });
      const store = createMemoryTaskStore();
      const { client, clock } = await createEngineHarness({ agent, limits, store });
      const sent = await Promise.all(Array.from({ length: 60 }, () => client.sendMessage(detached("wait"))));
      await clock.settle();
      const answers = Promise.all(sent.map((answer) => client.cancelTask({ id: taskOf(answer).id })));
      for (let turn = 0; turn < 8; turn += 1) await clock.advance(250);
      go.resolve();
      await clock.settle();
      const { used = 0 } = store.room?.() ?? {};
      expect(used).toBeGreaterThan(512 * kibibyte);
      expect(used).toBeLessThan(30 * 512 * kibibyte);
      for (let second = 0; second < 40; second += 1) await clock.advance(1_000);
      for (const { status } of await answers) expect(status?.state).toBe(TaskState.CANCELED);
    });
  },
);

it("executors are told to stop at once beside tasks of their caller that have to be read back first", async () => {
  const told: string[] = [];
  const agent = agentOf(true, async function* (writer, words) {
    yield writer.working();
    try {
      if (words === "sleep") await (writer as DurableTask).sleep(3_600_000);
      else await once(writer.signal, "abort");
    } finally {
      told.push(words);
      await new Promise<void>((resolve) => void clock.schedule(5_000, resolve));
    }
  });
  const { client, clock } = await createEngineHarness({ agent });
  const sent = await Promise.all(Array.from({ length: 16 }, () => client.sendMessage(detached("sleep"))));
  await clock.advance(40_000); // their executors were dropped
  const working = await client.sendMessage(detached("work"));
  const cancel = (answer: SendMessageResponse) => client.cancelTask({ id: taskOf(answer).id });
  const answers = Promise.all(sent.map(cancel));
  await clock.settle();
  const last = cancel(working);
  await clock.settle();
  expect(told).toContain("work");
  await clock.advance(10_000);
  for (const { status } of [...(await answers), await last]) expect(status?.state).toBe(TaskState.CANCELED);
});

it("turns wait for their turn of the memory also when one before them was told to stop, and asked then", async () => {
  let [asked, ready] = [0, 0];
  const begin = Promise.withResolvers<void>();
  const agent: AgentDefinition = {
    card: { name: "Writer" },
    whileWorking: "queue",
    inactivityTimeoutMs: 60,
    async *execute(turn) {
      yield turn.working();
      if (turn.text === "ask") {
        await once(turn.signal, "abort");
        asked += 1;
        yield turn.inputRequired("Which?");
        return;
      }
      await begin.promise;
      for (let index = 0; index < 3; index += 1) yield chunk(turn, index, 100 * kibibyte);
      ready += 1;
      await once(turn.signal, "abort");
    },
  };
  const limits = { maxActiveBytes: 1_024 * kibibyte, maxUncommittedBytes: 32 * kibibyte };
  const { client, clock } = await createEngineHarness({ agent, limits });
  const sent = await Promise.all(Array.from({ length: 20 }, () => client.sendMessage(detached("ask"))));
  for (const answer of sent) await client.sendMessage(detached("write", { taskId: taskOf(answer).id }));
  await clock.advance(60);
  expect(asked).toBe(20);
  begin.resolve();
  await clock.settle();
  expect(ready).toBe(1);
});

it("steps of one task that run side by side all go on", async () => {
  const agent: AgentDefinition = {
    card: { name: "Crawler" },
    durable: true,
    async *execute(task) {
      yield task.working();
      yield task.artifact({ parts: [text("x".repeat(256 * kibibyte))] });
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(Array.from({ length: 8 }, (_, at) => task.step(`${round} ${at}`, () => at)));
      }
    },
  };
  const limits = { maxActiveBytes: 2_048 * kibibyte };
  const { client, clock } = await createEngineHarness({ agent, limits });
  await Promise.all(Array.from({ length: 40 }, () => client.sendMessage(detached("go"))));
  for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
  const { totalSize } = await client.listTasks({ status: TaskState.COMPLETED });
  expect(totalSize).toBe(40);
});

it.each([
  ["turn", "a large artifact", 300],
  ["durable task", "a large artifact", 300],
  ["durable task", "a step", 1],
])("a %s is not silent while it waits for a turn with %s", async (kind, what, size) => {
  const durable = kind === "durable task";
  const begin = Promise.withResolvers<void>();
  let wait = async (): Promise<void> => {};
  const work: Work = async function* (writer, words) {
    for (let index = 0; words === "hold" && index < 40; index += 1) {
      yield chunk(writer, index, index === 0 ? 6_000 * kibibyte : 1);
      await wait();
    }
    yield writer.working();
    await begin.promise;
    if (what === "a step") await (writer as DurableTask).step("look up", () => 1);
    if (writer.signal.aborted) return;
    yield chunk(writer, 0, size * kibibyte);
  };
  const agent = agentOf(durable, work, 20_000);
  const { client, clock } = await createEngineHarness({
    agent,
    limits: { maxActiveBytes: 2_048 * kibibyte },
  });
  wait = () => new Promise((resolve) => void clock.schedule(5_000, resolve));
  const ids: string[] = [];
  for (let sent = 0; sent < 8; sent += 1) ids.push(taskOf(await client.sendMessage(detached("write"))).id);
  await client.sendMessage(detached("hold"));
  await clock.settle();
  begin.resolve();
  const states = () => Promise.all(ids.map(async (id) => (await client.getTask({ id })).status?.state));
  for (let seconds = 0; seconds < 25; seconds += 1) await clock.advance(1_000);
  expect(await states()).toContain(TaskState.WORKING);
  for (let seconds = 0; seconds < 200; seconds += 1) await clock.advance(1_000);
  expect(await states()).toEqual(ids.map(() => TaskState.COMPLETED));
});
