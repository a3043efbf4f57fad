import { lifecycleExtension } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  createFakeClock,
  createScriptedExecutor,
  type EngineHarnessOptions,
  readStream,
  reasonOf,
  say,
  taskOf,
  wordsOf,
} from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createHeldStore } from "../../test-support/held-store.ts";
import type { TurnAgent, TurnExecutor } from "../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";

async function scripted(rest: Partial<TurnAgent> = {}, options: Partial<EngineHarnessOptions> = {}) {
  const script = createScriptedExecutor();
  const agent = { card: { name: "Agent" }, execute: script.execute, ...rest };
  const harness = await createEngineHarness({ agent, randomId: () => crypto.randomUUID(), ...options });
  const start = async (metadata?: object) => {
    const details = metadata === undefined ? {} : { metadata: { [lifecycleExtension]: { ...metadata } } };
    const answer = harness.client.sendMessage(say("go", details));
    answer.catch(() => {});
    const scriptedTurn = await script.nextTurn();
    await scriptedTurn.yields(scriptedTurn.turn.working());
    await harness.clock.settle();
    return { id: scriptedTurn.turn.taskId, answer, ...scriptedTurn };
  };
  const at = (ms: number) => new Date(harness.clock.now() + ms).toISOString();
  return { ...harness, agent, script, start, at };
}

describe("an executor that is silent", () => {
  for (const [given, until] of [
    [undefined, 1_800_000],
    [5_000, 5_000],
  ] as const) {
    it(`is stopped after ${until} ms, and its task is FAILED with reason inactive`, async () => {
      const { client, start, clock } = await scripted(
        given === undefined ? {} : { inactivityTimeoutMs: given },
      );
      const { id, turn, yields, answer } = await start();
      await clock.advance(until - 1);
      await yields(turn.working("still here"));
      await clock.advance(until - 1);
      expect((await client.getTask({ id })).status?.state).toBe(TaskState.WORKING);
      await clock.advance(1);
      expect(turn.signal.reason).toMatchObject({ cause: "inactive" });
      await clock.advance(10_000); // it ignores its signal, and is abandoned
      const task = taskOf(await answer);
      expect([task.status?.state, reasonOf(task)]).toEqual([TaskState.FAILED, "inactive"]);
      expect(clock.alarms).toBe(0);
    });
  }

  for (const jump of [-3_600_000, 3_600_000]) {
    it(`is stopped in time when the clock is set by ${jump} ms, and not before`, async () => {
      const clock = createFakeClock();
      let offset = 0;
      const set = { ...clock, now: () => clock.now() + offset };
      const { client, start } = await scripted({ inactivityTimeoutMs: 5_000 }, { clock: set });
      const { id, turn, yields } = await start();
      await clock.advance(2_000);
      await yields(turn.working("still here"));
      offset = jump;
      await clock.advance(4_999);
      expect((await client.getTask({ id })).status?.state).toBe(TaskState.WORKING);
      expect(turn.signal.aborted).toBe(false);
      await clock.advance(1);
      expect(turn.signal.reason).toMatchObject({ cause: "inactive" });
      await clock.advance(10_000);
    });
  }

  it("may be silent for ever with inactivityTimeoutMs: false", async () => {
    const { client, start, clock } = await scripted({ inactivityTimeoutMs: false });
    const { id } = await start();
    await clock.advance(100_000_000);
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.WORKING);
  });
});

describe("questions", () => {
  for (const [question, option, reason] of [
    ["inputRequired", "inputTimeoutMs", "input-timeout"],
    ["authRequired", "authTimeoutMs", "auth-timeout"],
  ] as const) {
    for (const [given, until] of [
      [undefined, 600_000],
      [5_000, 5_000],
    ] as const) {
      it(`time out after ${until} ms into CANCELED with reason ${reason}`, async () => {
        const { client, start, clock } = await scripted(given === undefined ? {} : { [option]: given });
        const { id, turn, yields } = await start();
        await yields(turn[question]("?"));
        await clock.advance(until - 1);
        expect((await client.getTask({ id })).status?.state).not.toBe(TaskState.CANCELED);
        await clock.advance(1);
        const task = await client.getTask({ id });
        expect([task.status?.state, reasonOf(task)]).toEqual([TaskState.CANCELED, reason]);
        expect(task.status?.message?.parts[0]?.content.value).toContain(`${until / 1_000} seconds`);
        expect(clock.alarms).toBe(0);
      });
    }

    it(`wait for ever with ${option}: false`, async () => {
      const { client, start, clock } = await scripted({ [option]: false });
      const { id, turn, yields } = await start();
      await yields(turn[question]("?"));
      await clock.advance(10 * 365 * 86_400_000);
      expect((await client.getTask({ id })).status?.state).not.toBe(TaskState.CANCELED);
    });
  }

  it("are not timed out once they were answered, and the next one has its whole time", async () => {
    const { client, start, clock, script } = await scripted({ inputTimeoutMs: 1_000 });
    const { id, turn, yields } = await start();
    await yields(turn.inputRequired("?"));
    await clock.advance(900);
    const answer = client.sendMessage(say("yes", { taskId: id }));
    const second = await script.nextTurn();
    await clock.advance(5_000);
    await second.yields(second.turn.inputRequired("and?"));
    await answer;
    await clock.advance(999);
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
    await clock.advance(1);
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.CANCELED);
  });

  it("show their timeout to whoever subscribes", async () => {
    const { client, start, clock } = await scripted();
    const { id, turn, yields } = await start();
    await yields(turn.inputRequired("?"));
    await clock.settle();
    const stream = readStream((signal) => client.subscribeToTask({ id }, { signal }));
    await clock.advance(600_000);
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task input-required", "canceled"]);
  });

  it("time out after a restart, as their rows in the store say", async () => {
    const { start, clock, store, agent } = await scripted({ inputTimeoutMs: 1_000 });
    const { id, turn, yields } = await start();
    await yields(turn.inputRequired("?"));
    await clock.settle();
    const later = createFakeClock(clock.now() + 400);
    const { client } = await createEngineHarness({ agent, store, clock: later });
    await later.advance(599);
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
    await later.advance(1);
    expect(reasonOf(await client.getTask({ id }))).toBe("input-timeout");
  });

  it("follow the agent's new timeout after a restart, without waking for ever", async () => {
    const { start, clock, store, agent } = await scripted({ inputTimeoutMs: 1_000 });
    const { id, turn, yields } = await start();
    await yields(turn.inputRequired("?"));
    await clock.settle();
    const later = createFakeClock(clock.now() + 5_000);
    const { client } = await createEngineHarness({
      agent: { ...agent, inputTimeoutMs: 60_000 },
      store,
      clock: later,
    });
    await later.advance(0);
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
    await later.advance(55_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("input-timeout");
  });
});

describe("deadlines", () => {
  it("end a running task as CANCELED with reason deadline; the signal says so", async () => {
    const { client, start, clock, at } = await scripted();
    const { id, turn, returns } = await start({ deadline: at(1_000) });
    await clock.advance(999);
    expect(turn.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(turn.signal.reason).toMatchObject({ cause: "deadline" });
    returns();
    await clock.settle();
    const task = await client.getTask({ id });
    expect([task.status?.state, reasonOf(task)]).toEqual([TaskState.CANCELED, "deadline"]);
    expect(task.status?.message?.parts[0]?.content.value).toBe("The task's deadline has passed.");
    expect(clock.alarms).toBe(0);
  });

  it("abandon an executor that ignores them after its grace period", async () => {
    const { client, start, clock, at } = await scripted();
    const { id } = await start({ deadline: at(1_000) });
    await clock.advance(11_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("deadline");
  });

  it("end a task that waits for an answer", async () => {
    const { client, start, clock, at } = await scripted();
    const { id, turn, yields } = await start({ deadline: at(1_000) });
    await yields(turn.inputRequired("?"));
    await clock.advance(1_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("deadline");
  });

  it("end a task that waits for a place", async () => {
    const { client, start, clock, at, script } = await scripted({}, { limits: { maxRunning: 1 } });
    await start();
    const metadata = { [lifecycleExtension]: { deadline: at(1_000) } };
    const answer = client.sendMessage(say("second", { metadata }));
    await clock.advance(1_000);
    expect(reasonOf(taskOf(await answer))).toBe("deadline");
    expect(script.begun).toBe(1);
  });

  it("that are over already end the task at once", async () => {
    const { client, at, script } = await scripted();
    const metadata = { [lifecycleExtension]: { deadline: at(-1) } };
    const task = taskOf(await client.sendMessage(say("go", { metadata })));
    expect([task.status?.state, reasonOf(task)]).toEqual([TaskState.CANCELED, "deadline"]);
    expect(script.begun).toBe(0);
  });

  it("that come with an answer and are over end the task before the next turn", async () => {
    const { client, at, script, start } = await scripted();
    const { id, turn, yields } = await start();
    await yields(turn.inputRequired("?"));
    const metadata = { [lifecycleExtension]: { deadline: at(-1) } };
    const task = taskOf(await client.sendMessage(say("answer", { taskId: id, metadata })));
    expect([task.status?.state, reasonOf(task)]).toEqual([TaskState.CANCELED, "deadline"]);
    expect(script.begun).toBe(1);
  });

  it("do not touch a task that ended in time", async () => {
    const { client, start, clock, at } = await scripted();
    const { id, returns } = await start({ deadline: at(1_000) });
    returns();
    await clock.advance(2_000);
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
  });

  it("are set anew by a follow-up that names one, and kept by one that names none", async () => {
    const { client, start, clock, at, script } = await scripted();
    const { id, turn, yields } = await start({ deadline: at(1_000) });
    await yields(turn.inputRequired("?"));
    const metadata = { [lifecycleExtension]: { deadline: at(5_000) } };
    void client.sendMessage(say("yes", { taskId: id, metadata })).catch(() => {});
    const second = await script.nextTurn();
    await second.yields(second.turn.inputRequired("and?"));
    await clock.settle();
    void client.sendMessage(say("yes", { taskId: id })).catch(() => {});
    const third = await script.nextTurn();
    await clock.advance(4_999);
    expect(third.turn.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(third.turn.signal.aborted).toBe(true);
  });

  it("are kept after a restart", async () => {
    const { start, clock, store, agent, at } = await scripted();
    const { id, turn, yields } = await start({ deadline: at(1_000) });
    await yields(turn.inputRequired("?"));
    await clock.settle();
    const later = createFakeClock(clock.now() + 5_000);
    const { client } = await createEngineHarness({ agent, store, clock: later });
    await later.advance(0);
    expect(reasonOf(await client.getTask({ id }))).toBe("deadline");
  });

  for (const [name, value] of [
    ["no time", "tomorrow"],
    ["a number", 17],
    ["a date only", "2026-01-01"],
    ["no zone", "2026-01-01T00:00:00"],
    ["a day that is none", "2026-13-01T00:00:00Z"],
  ] as const) {
    it(`that are ${name} are refused, on new messages and on answers`, async () => {
      const { client, start, clock, script } = await scripted();
      const metadata = { [lifecycleExtension]: { deadline: value } };
      const refusal = { code: Code.InvalidArgument, rawMessage: expect.stringContaining(".deadline") };
      await expect(client.sendMessage(say("go", { metadata }))).rejects.toMatchObject(refusal);
      const { id, turn, yields } = await start();
      await yields(turn.inputRequired("?"));
      await clock.settle();
      await expect(client.sendMessage(say("yes", { taskId: id, metadata }))).rejects.toMatchObject(refusal);
      expect(script.begun).toBe(1);
    });
  }
});

describe("timers", () => {
  it("are tried again when the store fails, and lose nothing", async () => {
    const store = createHeldStore();
    const { client, start, clock, log } = await scripted({ inputTimeoutMs: 1_000 }, { store });
    const { id, turn, yields, answer } = await start();
    await yields(turn.inputRequired("?"));
    await answer;
    await clock.settle();
    store.failClaims(new Error("disk"));
    await clock.advance(3_500);
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
    expect(log.some(({ message }) => message.includes("timers"))).toBe(true);
    store.failClaims(undefined);
    await clock.advance(1_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("input-timeout");
  });

  it("of many tasks ring in one go", async () => {
    const { client, start, clock } = await scripted({ inputTimeoutMs: 1_000 });
    for (let at = 0; at < 250; at += 1) {
      const { turn, yields } = await start();
      await yields(turn.inputRequired("?"));
    }
    await clock.advance(1_000);
    expect((await client.listTasks({ status: TaskState.CANCELED })).totalSize).toBe(250);
    expect(clock.alarms).toBe(0);
  });
});

describe("recovery", () => {
  it("fails the turns that a stopped server left behind, begins the one that had no place, and leaves everything else", async () => {
    const {
      start,
      clock,
      store,
      agent,
      client: before,
      script,
    } = await scripted({}, { limits: { maxRunning: 3 } });
    const working = await start();
    const asking = await start();
    await asking.yields(asking.turn.inputRequired("?"));
    const done = await start();
    done.returns();
    await clock.settle();
    await start();
    await start();
    const queued = before.sendMessage(say("queued"));
    queued.catch(() => {});
    await clock.settle();
    const { tasks } = await before.listTasks({ status: TaskState.SUBMITTED });
    const { client } = await createEngineHarness({ agent, store });
    const failed = await client.getTask({ id: working.id });
    expect([failed.status?.state, reasonOf(failed)]).toEqual([TaskState.FAILED, "interrupted"]);
    expect(failed.status?.message?.parts[0]?.content.value).not.toBe("");
    expect((await client.getTask({ id: tasks[0]?.id ?? "" })).status?.state).toBe(TaskState.SUBMITTED);
    expect((await client.getTask({ id: asking.id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
    expect((await client.getTask({ id: done.id })).status?.state).toBe(TaskState.COMPLETED);
    expect(script.begun).toBe(6);
  });

  it("takes the tasks of all owners, page by page", async () => {
    const store = createMemoryTaskStore();
    const script = createScriptedExecutor();
    const agent = { card: { name: "Agent" }, execute: script.execute };
    const crashed = await createEngineHarness({ agent, store });
    for (let at = 0; at < 230; at += 1) {
      void crashed
        .clientOf(`user-${at % 7}`)
        .sendMessage(say("go"))
        .catch(() => {});
    }
    await crashed.clock.advance(200);
    const { clientOf } = await createEngineHarness({ agent, store });
    const failed = await Promise.all(
      Array.from({ length: 7 }, (_, at) => clientOf(`user-${at}`).listTasks({ status: TaskState.FAILED })),
    );
    expect(failed.reduce((sum, { totalSize }) => sum + totalSize, 0)).toBe(230);
  });

  it("goes on when one task cannot be recovered", async () => {
    const { start, clock, store, agent } = await scripted();
    const broken = await start();
    const other = await start();
    await clock.settle();
    const { client, log } = await createEngineHarness({
      agent,
      store: {
        ...store,
        find: (owner, taskId, view) =>
          taskId === broken.id ? Promise.reject(new Error("damaged")) : store.find(owner, taskId, view),
      },
    });
    expect(reasonOf(await client.getTask({ id: other.id }))).toBe("interrupted");
    expect(log).toContainEqual(expect.objectContaining({ level: "warn", taskId: broken.id }));
  });

  it("answers a question that was asked before the restart, with the skill that was chosen then", async () => {
    const store = createMemoryTaskStore();
    const skill = (id: string) => ({
      id,
      name: id,
      description: id,
      execute: ((turn) => [
        turn.task === undefined ? turn.inputRequired("?") : turn.complete(id),
      ]) satisfies TurnExecutor,
    });
    const agent = { card: { name: "Agent", skills: [skill("one"), skill("two")] } };
    const before = await createEngineHarness({ agent, store });
    const metadata = { [lifecycleExtension]: { skill: "two" } };
    const { id } = taskOf(await before.client.sendMessage(say("go", { metadata })));
    const { client } = await createEngineHarness({ agent, store });
    const task = taskOf(await client.sendMessage(say("yes", { taskId: id })));
    expect(task.status?.message?.parts[0]?.content.value).toBe("two");
    expect(task.history).toHaveLength(3);
  });
});

describe("shutdown", () => {
  it("lets executors end within the grace period", async () => {
    const { server, store, start, clock } = await scripted();
    const { id, returns, turn } = await start();
    const closing = server.stop(1_000);
    await clock.advance(500);
    expect(turn.signal.aborted).toBe(false);
    returns();
    await clock.settle();
    await closing;
    await server.close();
    await expect(store.find({ tenant: "", principal: "anonymous" }, id, "full")).rejects.toMatchObject({
      code: Code.Unavailable,
    });
  });

  it("waits for a turn that has no task yet, and tells it to stop like any other", async () => {
    const { server, client, script, clock } = await scripted();
    const answer = client.sendMessage(say("go"));
    const { turn, returns } = await script.nextTurn();
    const stopping = server.stop(1_000);
    let stopped = false;
    void stopping.then(() => {
      stopped = true;
    });
    await clock.advance(100);
    expect([stopped, turn.signal.aborted]).toEqual([false, false]);
    await clock.advance(900);
    expect(turn.signal.reason).toMatchObject({ cause: "shutdown" });
    returns();
    await stopping;
    expect(reasonOf(taskOf(await answer))).toBe("interrupted");
    await server.close();
  });

  it("tells them to stop afterwards, and writes FAILED interrupted before the store is closed", async () => {
    const store = createMemoryTaskStore();
    const { server, start, clock, agent } = await scripted(
      {},
      { store: { ...store, close: async () => {} } },
    );
    const { id, turn, returns } = await start();
    const closing = server.stop(1_000);
    await clock.advance(1_000);
    expect(turn.signal.reason).toMatchObject({ cause: "shutdown" });
    returns();
    await closing;
    const { client } = await createEngineHarness({ agent, store });
    expect(reasonOf(await client.getTask({ id }))).toBe("interrupted");
    expect(clock.alarms).toBe(0);
  });

  it("abandons executors that ignore it, and leaves one that waited for a place to the next server", async () => {
    const store = createMemoryTaskStore();
    const { server, start, clock, agent, client, script } = await scripted(
      {},
      { store: { ...store, close: async () => {} }, limits: { maxRunning: 1 } },
    );
    await start();
    void client.sendMessage(say("queued")).catch(() => {});
    await clock.settle();
    const closing = server.close();
    await clock.advance(10_000);
    await closing;
    expect(script.begun).toBe(1);
    const after = await createEngineHarness({ agent, store });
    const { tasks } = await after.client.listTasks({});
    expect(tasks.map(reasonOf)).toEqual(["interrupted", undefined]);
    expect([script.begun, clock.alarms]).toEqual([2, 0]);
  });
});
