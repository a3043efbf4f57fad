import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, say, taskOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { endOf, sendStream, stateOf } from "../../test-support/tasks.ts";
import { decodeCommand } from "./command.ts";
import { TurnAbort } from "./execution.ts";

const isNotCancelable = { code: Code.FailedPrecondition, rawMessage: "the task has already ended" };

// What the specification says of it stands in packages/conformance/src/scenarios, over all wires and stores.

describe("CancelTask", () => {
  for (const question of ["inputRequired", "authRequired"] as const) {
    it(`ends a task that waits at ${question} (A-31)`, async () => {
      const { client, startTask, clock } = await startScripted();
      const { id, turn, yields, answer } = await startTask();
      await yields(turn[question]("?"));
      await answer;
      const task = await client.cancelTask({ id });
      expect(endOf(task)).toEqual([TaskState.CANCELED, "canceled"]);
      expect(task.status?.message?.parts[0]?.content.value).toBe("The task was canceled.");
      expect(await client.getTask({ id })).toEqual(task);
      await expect(client.sendMessage(say("yes", { taskId: id }))).rejects.toMatchObject({
        code: Code.FailedPrecondition,
      });
      await clock.settle();
      expect(clock.alarms).toBeLessThanOrEqual(1);
    });
  }

  it("tells a running executor why, with the caller's metadata, and answers when it has ended (A-31, A-33)", async () => {
    const { client, startTask, clock } = await startScripted();
    const { id, turn, returns, answer, closed } = await startTask();
    let canceled = false;
    const cancel = client.cancelTask({ id, metadata: { k: 1 } }).finally(() => {
      canceled = true;
    });
    await clock.settle();
    expect([turn.signal.aborted, canceled]).toEqual([true, false]);
    expect(turn.signal.reason).toBeInstanceOf(TurnAbort);
    expect(turn.signal.reason).toMatchObject({ name: "AbortError", cause: "canceled", metadata: { k: 1 } });
    returns();
    expect(endOf(await cancel)).toEqual([TaskState.CANCELED, "canceled"]);
    expect(taskOf(await answer).status?.state).toBe(TaskState.CANCELED);
    await closed;
    await clock.settle();
    expect(clock.alarms).toBe(0);
  });

  it("takes a throw after the signal as the end that was asked for", async () => {
    const { client, startTask, clock, log } = await startScripted();
    const { id, throws } = await startTask();
    const cancel = client.cancelTask({ id });
    await clock.settle();
    throws(new DOMException("aborted", "AbortError"));
    expect((await cancel).status?.state).toBe(TaskState.CANCELED);
    expect(log).toEqual([]);
  });

  for (const [cancelGraceMs, until] of [
    [undefined, 10_000],
    [500, 500],
  ] as const) {
    it(`abandons an executor that ignores it after ${until} ms; what it yields later is refused and logged`, async () => {
      const { client, startTask, clock, log } = await startScripted(
        cancelGraceMs === undefined ? {} : { cancelGraceMs },
      );
      const { id, turn, yields, closed } = await startTask();
      const cancel = client.cancelTask({ id });
      await clock.advance(until - 1);
      expect(await stateOf(client, id)).toBe(TaskState.WORKING);
      await clock.advance(1);
      const task = await cancel;
      expect(task.status?.state).toBe(TaskState.CANCELED);
      expect(await yields(turn.artifact({ text: "late" }))).toBe("ended");
      await closed;
      expect(await client.getTask({ id })).toEqual(task);
      expect(log).toContainEqual(
        expect.objectContaining({ message: "an abandoned executor went on", taskId: id }),
      );
    });
  }

  it("refuses an artifact that was being sealed when its executor was abandoned (B-2)", async () => {
    const store = createHeldStore();
    const { client, startTask, clock } = await startScripted({}, { store });
    const { id, turn, yields } = await startTask();
    await yields(turn.append("a", "1"));
    await clock.settle();
    store.hold();
    await yields(turn.append("a", "2"));
    await clock.settle();
    const sealing = yields(turn.append("a", "3", { last: true }));
    const cancel = client.cancelTask({ id });
    await clock.advance(10_000);
    store.release();
    expect(await sealing).toBe("ended");
    await clock.settle();
    const task = await client.getTask({ id });
    expect(await cancel).toEqual(task);
    expect(task.status?.state).toBe(TaskState.CANCELED);
    expect(task.artifacts[0]?.parts.map(({ content }) => content.value)).toEqual(["1", "2"]);
  });

  it("does not undo a task that was quicker: it is completed and not cancelable (A-31, B-2)", async () => {
    const { client, startTask, clock } = await startScripted();
    const { id, turn, yields, answer } = await startTask();
    const cancel = client.cancelTask({ id });
    const failure = expect(cancel).rejects.toMatchObject(isNotCancelable);
    await clock.settle();
    await yields(turn.complete("done"));
    await failure;
    expect(taskOf(await answer).status?.state).toBe(TaskState.COMPLETED);
  });

  it("cancels a task whose executor asks instead of ending", async () => {
    const { client, startTask, clock } = await startScripted();
    const { id, turn, yields } = await startTask();
    const cancel = client.cancelTask({ id });
    await clock.settle();
    await yields(turn.inputRequired("Really?"));
    expect((await cancel).status?.state).toBe(TaskState.CANCELED);
  });

  it("cancels a task that waits for a place, and never runs it (A-31)", async () => {
    const { client, startTask, clock, script } = await startScripted({}, { limits: { maxRunning: 1 } });
    const running = await startTask();
    const waiting = client.sendMessage(say("second"));
    await clock.settle();
    const { tasks } = await client.listTasks({ status: TaskState.SUBMITTED });
    expect(tasks).toHaveLength(1);
    const task = await client.cancelTask({ id: tasks[0]?.id ?? "" });
    expect(task.status?.state).toBe(TaskState.CANCELED);
    expect(taskOf(await waiting).status?.state).toBe(TaskState.CANCELED);
    running.returns();
    await running.answer;
    await clock.settle();
    expect(script.begun).toBe(1);
  });

  it("is noted once, however often it is asked for meanwhile", async () => {
    const { client, clock, store, startTask } = await startScripted();
    const { id, returns } = await startTask();
    const cancels = ["first", "second", "third"].map((why) => client.cancelTask({ id, metadata: { why } }));
    await clock.settle();
    const notes = await store.entries(
      { tenant: "", principal: "anonymous" },
      id,
      { sequence: 0, generation: 0 },
      "notes",
      10,
    );
    const stops = (notes?.entries ?? [])
      .map(({ payload }) => decodeCommand(payload))
      .filter(({ type }) => type === "stop");
    expect(stops).toMatchObject([{ metadata: { why: "first" } }]);
    returns();
    await Promise.all(cancels);
  });

  it("gives two cancels at once the same task (A-32)", async () => {
    const { client, startTask, clock } = await startScripted();
    const { id, returns } = await startTask();
    const cancels = [client.cancelTask({ id }), client.cancelTask({ id })];
    await clock.settle();
    returns();
    const [one, other] = await Promise.all(cancels);
    expect(one).toEqual(other);
    expect(one?.status?.state).toBe(TaskState.CANCELED);
  });

  it("wins against an answer that is not durable yet: the next turn never begins", async () => {
    const store = createHeldStore();
    const { client, clock, script, startAsking } = await startScripted({}, { store });
    const { id } = await startAsking();
    store.hold();
    const second = client.sendMessage(say("yes", { taskId: id }));
    await clock.settle();
    const cancel = client.cancelTask({ id });
    await clock.settle();
    store.release();
    expect((await cancel).status?.state).toBe(TaskState.CANCELED);
    expect(taskOf(await second).status?.state).toBe(TaskState.CANCELED);
    await clock.settle();
    expect(script.begun).toBe(1);
    const { client: other } = await createEngineHarness({
      agent: { card: { name: "Agent" }, execute: () => [] },
      store,
    });
    expect(await stateOf(other, id)).toBe(TaskState.CANCELED);
  });
});

describe("two answers to one question", () => {
  it("takes exactly one, whatever their order (design: one writer)", async () => {
    const { client, clock, script, startAsking } = await startScripted();
    const { id } = await startAsking();
    const answers = Array.from({ length: 5 }, (_, at) => client.sendMessage(say(`${at}`, { taskId: id })));
    const settled = Promise.allSettled(answers);
    const next = await script.nextTurn();
    await clock.settle();
    next.returns();
    const outcomes = await settled;
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({ code: Code.FailedPrecondition });
    }
    expect(script.begun).toBe(2);
    expect((await client.getTask({ id })).history).toHaveLength(3);
  });

  it("never lets the turn that asked say more, however early the answer comes", async () => {
    const { client, script, clock } = await startScripted();
    const stream = sendStream(client);
    const first = await script.nextTurn();
    void first.yields(first.turn.inputRequired("?"));
    const { taskId } = first.turn;
    let second: Promise<unknown> | undefined;
    for (let at = 0; at < 50 && second === undefined; at += 1) {
      const attempt = client.sendMessage(say("yes", { taskId }));
      attempt.catch(() => {});
      await Promise.resolve();
      if (script.begun === 2) second = attempt;
    }
    await clock.settle();
    await stream.ended;
    const states = (await client.listTasks({})).tasks.map(({ status }) => status?.state);
    expect([TaskState.INPUT_REQUIRED, TaskState.WORKING]).toContain(states[0]);
    expect(states).toHaveLength(1);
  });
});
