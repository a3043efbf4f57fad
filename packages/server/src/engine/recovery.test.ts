import { TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  createFakeClock,
  createScriptedExecutor,
  reasonOf,
  say,
  taskOf,
  wordsOf,
} from "@a2a-connect/testing";
import { create, createRegistry } from "@bufbuild/protobuf";
import { file_google_protobuf_type, TypeSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createDurableServers, createServers } from "../../test-support/durable-servers.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { detached, endOf, sendTask, stateOf, subscribe } from "../../test-support/tasks.ts";
import type { DurableExecutor, TurnAgent, TurnExecutor } from "../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";

const unreachable = new ConnectError("the disk is gone", Code.Unavailable);

describe("a durable task whose store fails", () => {
  it("goes on when the store can be written again, and does no finished step twice", async () => {
    const calls: string[] = [];
    const store = createHeldStore();
    const { open, clock } = createDurableServers(
      async function* (task) {
        await task.step("one", () => void calls.push("one"));
        await task.sleep(500);
        await task.step("two", () => void calls.push("two"));
        yield task.working("three");
      },
      { store },
    );
    const { client, log } = await open();
    const { id } = await sendTask(client, detached());
    await clock.advance(100);
    store.decide(() => unreachable);
    await clock.advance(20_000);
    expect(await stateOf(client, id)).toBe(TaskState.SUBMITTED);
    store.decide(() => "write");
    await clock.advance(2_000);
    expect(await stateOf(client, id)).toBe(TaskState.COMPLETED);
    expect(calls.filter((call) => call === "one")).toEqual(["one"]);
    expect(log.map(({ level, message }) => `${level} ${message}`)).toContain(
      "error a task could not be written",
    );
  });

  for (const what of ["entries", "events", "claim"] as const) {
    it(`is taken up when it can be read again (${what})`, async () => {
      let isBroken = false;
      const memory = createMemoryTaskStore();
      const fallible =
        <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
        (...args: Args): Promise<Result> =>
          isBroken ? Promise.reject(unreachable) : call(...args);
      const store = { ...memory, [what]: fallible(memory[what] as (...args: unknown[]) => Promise<unknown>) };
      const { open, clock } = createDurableServers(
        async function* (task) {
          yield task.working("one");
          await task.sleep(5_000);
          yield task.working("two");
        },
        { store },
      );
      const first = await open();
      const { id } = await sendTask(first.client, detached());
      await clock.settle();
      first.kill();
      isBroken = true;
      const next = await open();
      await clock.advance(30_000);
      expect(await stateOf(next.client, id)).toBe(TaskState.WORKING);
      isBroken = false;
      await clock.advance(2_000);
      expect(await stateOf(next.client, id)).toBe(TaskState.COMPLETED);
      expect(next.log.map(({ message }) => message)).not.toContain("an executor failed");
    });
  }

  it("goes on with an answer that was taken when its executor cannot be read back at once", async () => {
    let isBroken = false;
    const memory = createMemoryTaskStore();
    const store = {
      ...memory,
      entries: (...args: Parameters<typeof memory.entries>) =>
        isBroken ? Promise.reject(unreachable) : memory.entries(...args),
    };
    const { open, clock } = createDurableServers(
      async function* (task) {
        yield task.append("a", (yield* task.ask("?")).text);
      },
      { store },
    );
    const { client } = await open();
    const { id } = await sendTask(client);
    await clock.advance(40_000);
    isBroken = true;
    const answered = client.sendMessage(say("yes", { taskId: id }));
    await clock.advance(5_000);
    isBroken = false;
    await clock.advance(2_000);
    expect(taskOf(await answered)).toMatchObject({ status: { state: TaskState.COMPLETED }, artifacts: [{}] });
  });
});

describe("a durable task that another process has claimed", () => {
  it("is dropped without a trace, and its executor is held where it is", async () => {
    const caught: unknown[] = [];
    const store = createMemoryTaskStore();
    const clock = createFakeClock();
    let mine = true;
    const execute: DurableExecutor = async function* (task) {
      yield task.working("one");
      try {
        await task.sleep(900);
        await task.step("work", () => "done");
      } catch (error) {
        caught.push(error);
      } finally {
        if (mine) caught.push("went on");
      }
      yield task.working("two");
    };
    const agent = { card: { name: "Durable" }, durable: true, execute } as const;
    const first = await createEngineHarness({ agent, store, clock });
    const { id } = await sendTask(first.client, detached());
    await clock.settle();
    const second = await createEngineHarness({ agent, store, clock, randomId: () => crypto.randomUUID() });
    await clock.settle();
    mine = false;
    await clock.advance(2_000);
    const task = await second.client.getTask({ id });
    expect([task.status?.state, caught]).toEqual([TaskState.COMPLETED, []]);
    expect(first.log.map(({ message }) => message)).toEqual(["a task could not be written"]);
    expect(second.log).toEqual([]);
    const stream = subscribe(second.client, id, { "last-event-id": "0" });
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task submitted", "working", "working", "completed"]);
  });
});

describe("a server that stops", () => {
  it("leaves durable tasks as they are, and the next one goes on with them", async () => {
    const { open, clock } = createDurableServers(async function* (task) {
      yield task.working("one");
      if (task.text === "sleeps") await task.sleep(50_000);
      else
        await task.step("work", () => new Promise<void>((resolve) => void clock.schedule(40_000, resolve)));
      yield task.working("two");
    });
    const first = await open();
    const tasks = [];
    for (const words of ["sleeps", "works"]) tasks.push(await sendTask(first.client, detached(words)));
    await clock.settle();
    const stopped = first.server.stop(5_000);
    await clock.advance(5_000);
    await stopped;
    first.kill();
    const next = await open();
    for (const { id } of tasks) expect(await stateOf(next.client, id)).toBe(TaskState.WORKING);
    await clock.advance(50_000);
    for (const { id } of tasks) expect(await stateOf(next.client, id)).toBe(TaskState.COMPLETED);
    expect([first.log, next.log]).toEqual([[], []]);
  });
});

/** One thing that an executor does: events are yielded. */
type Act = (task: Parameters<DurableExecutor>[0]) => unknown;

const says =
  (words: string): Act =>
  (task) =>
    task.working(words);
const sleeps: Act = (task) => task.sleep(60_000);
const steps: Act = (task) => task.step("a", () => 1);
const takes: Act = (task) => task.inbox.take();

function doing(...acts: readonly Act[]): DurableExecutor {
  return async function* (task) {
    for (const act of acts) {
      const given = await act(task);
      if (typeof given === "object") yield given as never; // an event
    }
  };
}

describe("code that no longer fits its task", () => {
  let isNew = false;
  for (const [what, before, after, detail] of [
    [
      "another kind of event",
      says("a"),
      (task) => task.artifact({ id: "a", text: "a" }),
      'the log has the status working, the executor gave artifact "a"',
    ],
    [
      "another artifact",
      (task) => task.append("a", "a"),
      (task) => task.append("b", "a"),
      'the log has artifact "a", the executor gave artifact "b"',
    ],
  ] as [string, Act, Act, string][]) {
    it(`fails it with journal-diverged: ${what}; callers learn where, the log why`, async () => {
      isNew = false;
      const { open, clock } = createDurableServers((task) =>
        doing(says("first"), isNew ? after : before, sleeps)(task),
      );
      const first = await open();
      const { id } = await sendTask(first.client, detached());
      await clock.settle();
      first.kill();
      isNew = true;
      const next = await open();
      await clock.settle();
      const task = await next.client.getTask({ id });
      expect(endOf(task)).toEqual([TaskState.FAILED, "journal-diverged"]);
      expect(task.status?.message?.parts.map(({ content }) => content.value)).toEqual([
        "The agent's code no longer matches the log of this task: they differ at event 3.",
      ]);
      expect(next.log.map(({ message }) => message)).toEqual([`an executor diverged: ${detail}`]);
    });
  }

  for (const [what, old, young, detail] of [
    [
      "returns before it has said what the log has",
      [says("a"), says("b"), sleeps],
      [says("a")],
      "the log has more events",
    ],
    ["leaves out a step", [steps, sleeps], [], 'nothing asked for step "a"#1'],
    [
      "takes the time where it did not",
      [says("a"), says("b"), sleeps],
      [says("a"), (task) => task.now(), says("b")],
      "now#1 is not in the journal",
    ],
    [
      "draws a number where it did not",
      [steps, sleeps],
      [(task) => task.random(), steps],
      "random#1 is not in the journal",
    ],
    [
      "sleeps where it did not",
      [says("a"), steps, takes],
      [(task) => task.sleep(5), says("a"), steps],
      'nothing asked for step "a"#1',
    ],
    ["emits between what it did", [steps, takes], [says("new"), steps], 'nothing asked for step "a"#1'],
  ] as [string, Act[], Act[], string][]) {
    it(`fails it when it ${what}`, async () => {
      isNew = false;
      const { open, clock } = createDurableServers((task) => doing(...(isNew ? young : old))(task));
      const first = await open();
      const { id } = await sendTask(first.client, detached());
      await clock.settle();
      first.kill();
      isNew = true;
      const next = await open();
      await clock.advance(60_000);
      expect(reasonOf(await next.client.getTask({ id }))).toBe("journal-diverged");
      expect(next.log.map(({ message }) => message)).toEqual([`an executor diverged: ${detail}`]);
    });
  }

  it("fails it when a type that a step gave is no longer known", async () => {
    const store = createMemoryTaskStore();
    const execute: DurableExecutor = async function* (task) {
      await task.step("type", () => create(TypeSchema, {}));
      yield* task.ask("?");
    };
    const old = createDurableServers(execute, {
      store,
      agent: { journalTypes: createRegistry(file_google_protobuf_type) },
    });
    const { id } = taskOf(await (await old.open()).client.sendMessage(say("go")));
    const { client, log } = await createDurableServers(execute, { store }).open();
    const task = await sendTask(client, say("yes", { taskId: id }));
    expect(reasonOf(task)).toBe("journal-diverged");
    expect(log[0]?.message).toContain("google.protobuf.Type is no longer in");
  });

  it("ends it when its timer rings before it was taken up, if the code is a turn's now", async () => {
    const store = createMemoryTaskStore();
    const old = createDurableServers(doing(says("a"), sleeps), { store });
    const first = await old.open();
    const { id } = await sendTask(first.client, detached());
    await old.clock.settle();
    first.kill();
    const turns = createServers(
      { card: { name: "Turns" }, async *execute() {} },
      { store: { ...store, unfinished: async () => [] } },
    );
    const { client } = await turns.open();
    await turns.clock.advance(60_000);
    expect(endOf(await client.getTask({ id }))).toEqual([TaskState.FAILED, "interrupted"]);
  });

  it("may say the same in other words", async () => {
    const { open, clock } = createDurableServers(async function* (task) {
      yield task.working(isNew ? "well" : "good");
      yield task.append("a", isNew ? "x" : "y", isNew ? {} : { name: "n" });
      yield* task.ask(isNew ? "Who?" : "Which?");
    });
    isNew = false;
    const first = await open();
    const { id } = await sendTask(first.client);
    first.kill();
    isNew = true;
    const next = await open();
    await clock.settle();
    expect((await sendTask(next.client, say("me", { taskId: id }))).status?.state).toBe(TaskState.COMPLETED);
  });
});

describe('a turn with recovery "restart"', () => {
  /** Processes with a turn executor over one store. */
  const turns = (execute: TurnExecutor, more: Partial<TurnAgent> = {}) =>
    createServers({ card: { name: "Turns" }, execute, recovery: "restart", ...more });

  it("begins again with its attempt counted, and its artifacts anew, sealed ones too", async () => {
    const attempts: number[] = [];
    const sealed = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const { open, clock } = turns(async function* (turn) {
      attempts.push(turn.attempt);
      yield turn.append("chunks", `${turn.attempt}a `);
      yield turn.append("chunks", `${turn.attempt}b `, { last: true });
      sealed[turn.attempt - 1]?.resolve();
      if (turn.attempt < 3) await new Promise(() => {});
    });
    let process = await open();
    const { id } = await sendTask(process.client, detached());
    for (const { promise } of sealed) {
      await promise; // a thread makes the seal, which the clock knows nothing of
      await clock.settle();
      if (attempts.length < 3) process.kill();
      process = attempts.length < 3 ? await open() : process;
    }
    const task = await process.client.getTask({ id });
    expect([task.status?.state, attempts]).toEqual([TaskState.COMPLETED, [1, 2, 3]]);
    expect(task.artifacts.map(({ parts }) => parts.map(({ content }) => content.value))).toEqual([
      ["3a ", "3b "],
    ]);
  });

  it("gives a queued message its turn, though the process died right behind a question", async () => {
    const texts: string[] = [];
    const asks = Promise.withResolvers<void>();
    const { open, clock } = turns(
      async function* (turn) {
        texts.push(turn.text);
        if (turn.text !== "one") return;
        yield turn.working("busy");
        await asks.promise;
        yield turn.inputRequired("Which?");
      },
      { whileWorking: "queue" },
    );
    const first = await open({ commit: 3, written: true });
    const { id } = await sendTask(first.client, detached("one")); // commit 1
    await clock.settle();
    await first.client.sendMessage({ ...detached("two"), ...say("two", { taskId: id }) }); // commit 2
    asks.resolve();
    await clock.settle();
    expect([first.dead, texts]).toEqual([true, ["one"]]);
    const second = await open();
    await clock.settle();
    const task = await second.client.getTask({ id });
    expect([task.status?.state, texts.at(-1)]).toEqual([TaskState.COMPLETED, "two"]);
  });

  for (const how of ["crash", "shutdown"] as const) {
    it(`is begun five times at most, after a ${how}`, async () => {
      let begun = 0;
      const { open, clock } = turns(async function* (turn) {
        begun += 1;
        yield turn.working();
        await new Promise((_, reject) =>
          turn.signal.addEventListener("abort", () => reject(turn.signal.reason)),
        );
      });
      let process = await open();
      const { id } = await sendTask(process.client, detached());
      for (let end = 0; end < 6; end += 1) {
        await clock.settle();
        if (how === "crash") process.kill();
        else await Promise.all([process.server.stop(0), clock.advance(0)]);
        process = await open();
      }
      const task = await process.client.getTask({ id });
      expect([reasonOf(task), begun]).toEqual(["interrupted", 5]);
    });
  }

  it("is for the message it was begun for, with its details, and what was queued follows", async () => {
    const seen: string[] = [];
    const { open, clock } = turns(
      async function* (turn) {
        seen.push(
          `${turn.text} ${turn.attempt} ${JSON.stringify(turn.metadata ?? {})} ${turn.task === undefined}`,
        );
        if (turn.text === "go") {
          yield turn.inputRequired("?");
          return;
        }
        yield turn.working("busy");
        if (turn.attempt === 1 && turn.text !== "three") await new Promise(() => {});
      },
      { whileWorking: "queue" },
    );
    const first = await open();
    const { id } = await sendTask(first.client, { ...say("go"), metadata: { of: "go" } });
    const send = (process: typeof first, words: string) =>
      process.client.sendMessage({
        ...say(words, { taskId: id }),
        ...{ metadata: { of: words } },
        configuration: { returnImmediately: true },
      });
    await send(first, "one");
    await clock.settle();
    await send(first, "two");
    await send(first, "three");
    first.kill();
    const second = await open();
    await clock.settle(); // one again, then two
    second.kill();
    const third = await open();
    await clock.settle();
    expect(seen).toEqual([
      'go 1 {"of":"go"} true',
      'one 1 {"of":"one"} false',
      'one 2 {"of":"one"} false',
      'two 1 {"of":"two"} false',
      'two 2 {"of":"two"} false',
      'three 1 {"of":"three"} false',
    ]);
    expect(await stateOf(third.client, id)).toBe(TaskState.COMPLETED);
  });

  it("runs once at a time, when its own failure and that of the one who took it up are both noticed", async () => {
    const store = createHeldStore();
    let gate: Promise<void> | undefined;
    let running = 0;
    let most = 0;
    const execute: TurnExecutor = async function* (turn) {
      most = Math.max(most, ++running);
      try {
        yield turn.working(`attempt ${turn.attempt}`);
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      } finally {
        running--;
      }
    };
    const { client, clock } = await createEngineHarness({
      agent: { card: { name: "Agent" }, recovery: "restart", execute },
      store: {
        ...store,
        async entries(...args) {
          await gate;
          return store.entries(...args);
        },
      },
    });
    const { id } = await sendTask(client, detached());
    await clock.settle();
    store.decide(() => unreachable);
    await client.cancelTask({ id }).catch(() => {});
    await clock.advance(1_000); // it is taken up and fails again: recovery notices, and so does the turn's end
    store.decide(() => "write");
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    await clock.advance(60_000); // all who noticed read its log now
    resolve();
    await clock.settle();
    expect({ most, running }).toEqual({ most: 1, running: 1 });
  });

  it("that waited for its slot when the process died is begun, because no code of it has run", async () => {
    const { open, clock } = createServers(
      {
        card: { name: "Agent" },
        recovery: "fail",
        async *execute(turn) {
          if (turn.text === "ask") yield turn.inputRequired("Which?");
          if (turn.text !== "block") return;
          yield turn.working();
          await new Promise(() => {});
        },
      },
      { limits: { maxRunning: 1 } },
    );
    const first = await open();
    const asked = await sendTask(first.client, say("ask"));
    const blocks = await sendTask(first.client, detached("block"));
    await first.client.sendMessage(detached("that", { taskId: asked.id }));
    await clock.settle();
    first.kill();
    const { client } = await open();
    await clock.settle();
    expect(await stateOf(client, asked.id)).toBe(TaskState.COMPLETED);
    expect(reasonOf(await client.getTask({ id: blocks.id }))).toBe("interrupted");
  });

  it("fails with interrupted where the agent does not say otherwise", async () => {
    const { open, clock } = turns(createScriptedExecutor().execute, { recovery: "fail" });
    const first = await open();
    const sent = first.client.sendMessage(detached());
    await clock.advance(300);
    const { id } = taskOf(await sent);
    first.kill();
    expect(reasonOf(await (await open()).client.getTask({ id }))).toBe("interrupted");
  });
});
