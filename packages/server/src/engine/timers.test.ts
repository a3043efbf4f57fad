import { TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  createFakeClock,
  createScriptedExecutor,
  type FakeClock,
  reasonOf,
  say,
  taskOf,
  wordsOf,
} from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { startAgent, startScripted } from "../../test-support/agents.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { detached, endOf, lifecycle, sendTask, stateOf, subscribe } from "../../test-support/tasks.ts";
import type { TurnExecutor } from "../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import { SilenceWatch } from "./execution.ts";

/** What a message says whose task has so many milliseconds. */
const deadline = (clock: FakeClock, ms: number) =>
  lifecycle({ deadline: new Date(clock.now() + ms).toISOString() });

describe("an executor that is silent", () => {
  for (const [given, until] of [
    [undefined, 1_800_000],
    [5_000, 5_000],
  ] as const) {
    it(`is stopped after ${until} ms, and its task is FAILED with reason inactive`, async () => {
      const { client, clock, startTask } = await startScripted(
        given === undefined ? {} : { inactivityTimeoutMs: given },
      );
      const { id, turn, yields, answer } = await startTask();
      await clock.advance(until - 1);
      await yields(turn.working("still here"));
      await clock.advance(until - 1);
      expect(await stateOf(client, id)).toBe(TaskState.WORKING);
      await clock.advance(1);
      expect(turn.signal.reason).toMatchObject({ cause: "inactive" });
      await clock.advance(10_000); // it ignores its signal, and is abandoned
      expect(endOf(taskOf(await answer))).toEqual([TaskState.FAILED, "inactive"]);
      expect(clock.alarms).toBe(0);
    });
  }

  for (const jump of [-3_600_000, 3_600_000]) {
    it(`is stopped in time when the clock is set by ${jump} ms, and not before`, async () => {
      const clock = createFakeClock();
      let offset = 0;
      const set = { ...clock, now: () => clock.now() + offset };
      const { client, startTask } = await startScripted({ inactivityTimeoutMs: 5_000 }, { clock: set });
      const { id, turn, yields } = await startTask();
      await clock.advance(2_000);
      await yields(turn.working("still here"));
      offset = jump;
      await clock.advance(4_999);
      expect(await stateOf(client, id)).toBe(TaskState.WORKING);
      expect(turn.signal.aborted).toBe(false);
      await clock.advance(1);
      expect(turn.signal.reason).toMatchObject({ cause: "inactive" });
      await clock.advance(10_000);
    });
  }

  it("is watched no more after the watch was stopped, also when a wait ends then", async () => {
    const clock = createFakeClock();
    let silences = 0;
    const watch = new SilenceWatch(clock, 1_000, () => (silences += 1));
    watch.start();
    watch.stop();
    await watch.pauseFor(Promise.resolve());
    await clock.advance(1_000);
    expect(silences).toBe(0);
    watch.start();
    await clock.advance(1_000);
    expect(silences).toBe(1);
  });

  it("may be silent for ever with inactivityTimeoutMs: false", async () => {
    const { client, clock, startTask } = await startScripted({ inactivityTimeoutMs: false });
    const { id } = await startTask();
    await clock.advance(100_000_000);
    expect(await stateOf(client, id)).toBe(TaskState.WORKING);
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
        const { client, clock, startTask } = await startScripted(
          given === undefined ? {} : { [option]: given },
        );
        const { id, turn, yields } = await startTask();
        await yields(turn[question]("?"));
        await clock.advance(until - 1);
        expect(await stateOf(client, id)).not.toBe(TaskState.CANCELED);
        await clock.advance(1);
        const task = await client.getTask({ id });
        expect(endOf(task)).toEqual([TaskState.CANCELED, reason]);
        expect(task.status?.message?.parts[0]?.content.value).toContain(`${until / 1_000} seconds`);
        expect(clock.alarms).toBe(0);
      });
    }

    it(`wait for ever with ${option}: false`, async () => {
      const { client, clock, startTask } = await startScripted({ [option]: false });
      const { id, turn, yields } = await startTask();
      await yields(turn[question]("?"));
      await clock.advance(10 * 365 * 86_400_000);
      expect(await stateOf(client, id)).not.toBe(TaskState.CANCELED);
    });
  }

  it("are not timed out once they were answered, and the next one has its whole time", async () => {
    const { client, clock, script, startAsking } = await startScripted({ inputTimeoutMs: 1_000 });
    const { id } = await startAsking();
    await clock.advance(900);
    const answer = client.sendMessage(say("yes", { taskId: id }));
    const second = await script.nextTurn();
    await clock.advance(5_000);
    await second.yields(second.turn.inputRequired("and?"));
    await answer;
    await clock.advance(999);
    expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
    await clock.advance(1);
    expect(await stateOf(client, id)).toBe(TaskState.CANCELED);
  });

  it("show their timeout to whoever subscribes", async () => {
    const { client, clock, startAsking } = await startScripted();
    const { id } = await startAsking();
    const stream = subscribe(client, id);
    await clock.advance(600_000);
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task input-required", "canceled"]);
  });

  it("time out after a restart, as their rows in the store say", async () => {
    const { clock, store, agent, startAsking } = await startScripted({ inputTimeoutMs: 1_000 });
    const { id } = await startAsking();
    const later = createFakeClock(clock.now() + 400);
    const { client } = await createEngineHarness({ agent, store, clock: later });
    await later.advance(599);
    expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
    await later.advance(1);
    expect(reasonOf(await client.getTask({ id }))).toBe("input-timeout");
  });

  it("follow the agent's new timeout after a restart, without waking for ever", async () => {
    const { clock, store, agent, startAsking } = await startScripted({ inputTimeoutMs: 1_000 });
    const { id } = await startAsking();
    const later = createFakeClock(clock.now() + 5_000);
    const { client } = await createEngineHarness({
      agent: { ...agent, inputTimeoutMs: 60_000 },
      store,
      clock: later,
    });
    await later.advance(0);
    expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
    await later.advance(55_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("input-timeout");
  });
});

describe("deadlines", () => {
  it("end a large task that waits also while its caller's reads take all their turns", async () => {
    const clock = createFakeClock();
    const store = createMemoryTaskStore();
    const reads = Promise.withResolvers<void>();
    const isHeld = new Set<string>();
    const { clientFrom } = await createEngineHarness({
      agent: {
        card: { name: "Agent" },
        async *execute(turn) {
          yield turn.inputRequired("Which?");
        },
      },
      clock,
      store: {
        ...store,
        async find(owner, taskId, view) {
          if (isHeld.has(taskId)) await reads.promise;
          return store.find(owner, taskId, view);
        },
      },
    });
    const client = clientFrom("192.0.2.1");
    const slow = [await sendTask(client), await sendTask(client)];
    const { id } = await sendTask(client, say("x".repeat(100_000), deadline(clock, 60_000)));
    await clock.advance(40_000); // none is in memory any more
    for (const task of slow) isHeld.add(task.id);
    const answers = slow.map((task) => client.getTask({ id: task.id }));
    await clock.advance(20_000);
    const stored = await store.find({ tenant: "", principal: "anonymous" }, id, "summary");
    expect(stored?.index.state).toBe(TaskState.CANCELED);
    reads.resolve();
    await Promise.all(answers);
  });

  it("end a running task as CANCELED with reason deadline; the signal says so", async () => {
    const { client, clock, startTask } = await startScripted();
    const { id, turn, returns } = await startTask(deadline(clock, 1_000));
    await clock.advance(999);
    expect(turn.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(turn.signal.reason).toMatchObject({ cause: "deadline" });
    returns();
    await clock.settle();
    const task = await client.getTask({ id });
    expect(endOf(task)).toEqual([TaskState.CANCELED, "deadline"]);
    expect(task.status?.message?.parts[0]?.content.value).toBe("The task's deadline has passed.");
    expect(clock.alarms).toBe(0);
  });

  it("abandon an executor that ignores them after its grace period", async () => {
    const { client, clock, startTask } = await startScripted();
    const { id } = await startTask(deadline(clock, 1_000));
    await clock.advance(11_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("deadline");
  });

  it("end a task that waits for an answer", async () => {
    const { client, clock, startAsking } = await startScripted();
    const { id } = await startAsking(deadline(clock, 1_000));
    await clock.advance(1_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("deadline");
  });

  it("end a task that waits for a place", async () => {
    const { client, clock, script, startTask } = await startScripted({}, { limits: { maxRunning: 1 } });
    await startTask();
    const answer = client.sendMessage(say("second", deadline(clock, 1_000)));
    await clock.advance(1_000);
    expect(reasonOf(taskOf(await answer))).toBe("deadline");
    expect(script.begun).toBe(1);
  });

  it("that are over already end the task at once", async () => {
    const { client, script, clock } = await startScripted();
    expect(endOf(await sendTask(client, say("go", deadline(clock, -1))))).toEqual([
      TaskState.CANCELED,
      "deadline",
    ]);
    expect(script.begun).toBe(0);
  });

  it("that come with an answer and are over end the task before the next turn", async () => {
    const { client, script, clock, startAsking } = await startScripted();
    const { id } = await startAsking();
    expect(endOf(await sendTask(client, say("answer", { taskId: id, ...deadline(clock, -1) })))).toEqual([
      TaskState.CANCELED,
      "deadline",
    ]);
    expect(script.begun).toBe(1);
  });

  it("do not touch a task that ended in time", async () => {
    const { client, clock, startTask } = await startScripted();
    const { id, returns } = await startTask(deadline(clock, 1_000));
    returns();
    await clock.advance(2_000);
    expect(await stateOf(client, id)).toBe(TaskState.COMPLETED);
  });

  it("are set anew by a follow-up that names one, and kept by one that names none", async () => {
    const { client, clock, script, startAsking } = await startScripted();
    const { id } = await startAsking(deadline(clock, 1_000));
    void client.sendMessage(say("yes", { taskId: id, ...deadline(clock, 5_000) })).catch(() => {});
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
    const { clock, store, agent, startAsking } = await startScripted();
    const { id } = await startAsking(deadline(clock, 1_000));
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
      const { client, script, startAsking } = await startScripted();
      const { metadata } = lifecycle({ deadline: value });
      const refusal = { code: Code.InvalidArgument, rawMessage: expect.stringContaining(".deadline") };
      await expect(client.sendMessage(say("go", { metadata }))).rejects.toMatchObject(refusal);
      const { id } = await startAsking();
      await expect(client.sendMessage(say("yes", { taskId: id, metadata }))).rejects.toMatchObject(refusal);
      expect(script.begun).toBe(1);
    });
  }
});

describe("timers", () => {
  it("are tried again when the store fails, and lose nothing", async () => {
    const store = createHeldStore();
    const { client, clock, log, startAsking } = await startScripted({ inputTimeoutMs: 1_000 }, { store });
    const { id } = await startAsking();
    store.failClaims(new Error("disk"));
    await clock.advance(3_500);
    expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
    expect(log.some(({ message }) => message.includes("timers"))).toBe(true);
    store.failClaims(undefined);
    await clock.advance(1_000);
    expect(reasonOf(await client.getTask({ id }))).toBe("input-timeout");
  });

  it("of one caller hold up no timer of another, also while each waits for the store", async () => {
    const store = createHeldStore();
    const { clientOf, clock } = await createEngineHarness({
      store,
      agent: {
        card: { name: "Asker" },
        inputTimeoutMs: 1_000,
        async *execute(turn) {
          yield turn.inputRequired("Well?");
        },
      },
    });
    const [alice, bob] = [clientOf("alice"), clientOf("bob")];
    for (let at = 0; at < 300; at += 1) await alice.sendMessage(say("ask"));
    await clock.advance(100);
    const { id } = taskOf(await bob.sendMessage(say("ask")));
    const woken: string[] = [];
    const gate = Promise.withResolvers<void>();
    const { claim } = store;
    vi.spyOn(store, "claim").mockImplementation(async (owner, taskId) => {
      woken.push(owner.principal);
      if (taskId !== id) await gate.promise;
      return claim(owner, taskId);
    });
    await clock.advance(1_000);
    expect(woken.filter((principal) => principal === "bob")).toHaveLength(1);
    expect(woken.length).toBeLessThan(200);
    expect(reasonOf(await bob.getTask({ id }))).toBe("input-timeout");
    gate.resolve();
    await clock.advance(0);
    expect((await alice.listTasks({ status: TaskState.CANCELED })).totalSize).toBe(300);
    expect(clock.alarms).toBe(0);
  });

  it("of many tasks ring in one go", async () => {
    const { client, clock, startAsking } = await startScripted({ inputTimeoutMs: 1_000 });
    for (let at = 0; at < 250; at += 1) {
      await startAsking();
    }
    await clock.advance(1_000);
    expect((await client.listTasks({ status: TaskState.CANCELED })).totalSize).toBe(250);
    expect(clock.alarms).toBe(0);
  });
});

describe("recovery", () => {
  it("fails the turns that a stopped server left behind, begins the one that had no place, and leaves everything else", async () => {
    const {
      clock,
      store,
      agent,
      client: before,
      script,
      startTask,
    } = await startScripted({}, { limits: { maxRunning: 3 } });
    const working = await startTask();
    const asking = await startTask();
    await asking.yields(asking.turn.inputRequired("?"));
    const done = await startTask();
    done.returns();
    await clock.settle();
    await startTask();
    await startTask();
    const queued = before.sendMessage(say("queued"));
    queued.catch(() => {});
    await clock.settle();
    const { tasks } = await before.listTasks({ status: TaskState.SUBMITTED });
    const { client } = await createEngineHarness({ agent, store });
    const failed = await client.getTask({ id: working.id });
    expect(endOf(failed)).toEqual([TaskState.FAILED, "interrupted"]);
    expect(failed.status?.message?.parts[0]?.content.value).not.toBe("");
    expect(await stateOf(client, tasks[0]?.id ?? "")).toBe(TaskState.SUBMITTED);
    expect(await stateOf(client, asking.id)).toBe(TaskState.INPUT_REQUIRED);
    expect(await stateOf(client, done.id)).toBe(TaskState.COMPLETED);
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
    const { clock, store, agent, startTask } = await startScripted();
    const broken = await startTask();
    const other = await startTask();
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
    const { metadata } = lifecycle({ skill: "two" });
    const { id } = await sendTask(before.client, say("go", { metadata }));
    const { client } = await createEngineHarness({ agent, store });
    const task = await sendTask(client, say("yes", { taskId: id }));
    expect(task.status?.message?.parts[0]?.content.value).toBe("two");
    expect(task.history).toHaveLength(3);
  });
});

describe("shutdown", () => {
  it("lets executors end within the grace period", async () => {
    const { server, store, clock, startTask } = await startScripted();
    const { id, returns, turn } = await startTask();
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
    const { server, client, script, clock } = await startScripted();
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
    const { server, clock, agent, startTask } = await startScripted(
      {},
      { store: { ...store, close: async () => {} } },
    );
    const { id, turn, returns } = await startTask();
    const closing = server.stop(1_000);
    await clock.advance(1_000);
    expect(turn.signal.reason).toMatchObject({ cause: "shutdown" });
    returns();
    await closing;
    const { client } = await createEngineHarness({ agent, store });
    expect(reasonOf(await client.getTask({ id }))).toBe("interrupted");
    expect(clock.alarms).toBe(0);
  });

  for (const [does, looks, end] of [
    ["never looks at its signal, and ends by itself", false, [TaskState.COMPLETED, undefined]],
    ["looks at its signal, and may have ended because of it", true, [TaskState.FAILED, "interrupted"]],
  ] as const) {
    it(`leaves a turn that ${does} ${end[1] ?? "completed"}`, async () => {
      const goOn = Promise.withResolvers<void>();
      const { server, client, clock } = await startAgent(async function* (turn) {
        yield turn.working();
        if (looks) turn.signal.throwIfAborted();
        await goOn.promise;
      });
      const { id } = taskOf(await client.sendMessage(detached()));
      await clock.settle();
      const stopping = server.stop(1_000);
      await clock.advance(1_000);
      goOn.resolve();
      await stopping;
      expect(endOf(await client.getTask({ id }))).toEqual(end);
      await server.close();
    });
  }

  it("abandons executors that ignore it, and leaves one that waited for a place to the next server", async () => {
    const store = createMemoryTaskStore();
    const { server, clock, agent, client, script, startTask } = await startScripted(
      {},
      { store: { ...store, close: async () => {} }, limits: { maxRunning: 1 } },
    );
    await startTask();
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

it("callers without credentials take turns when their tasks are due, each by its address", async () => {
  const woken: string[] = [];
  const { clientFrom, clock } = await createEngineHarness({
    agent: {
      card: { name: "Sleeper" },
      durable: true,
      async *execute(task) {
        yield task.working();
        await task.sleep(60_000);
        woken.push(task.text);
      },
    },
  });
  const [alice, bob] = [clientFrom("192.0.2.1"), clientFrom("192.0.2.2")];
  for (let count = 0; count < 300; count += 1) await alice.sendMessage(detached("alice"));
  await bob.sendMessage(detached("bob"));
  await clock.advance(50_000); // none is in memory
  await clock.advance(10_000);
  expect(woken).toHaveLength(301);
  expect(woken.indexOf("bob")).toBeLessThan(150);
});
