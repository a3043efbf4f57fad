import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, type EngineHarnessOptions, say, taskOf, wordsOf } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { createFakeWebhooks } from "../../test-support/fake-webhooks.ts";
import { createHeldStore, type Fate } from "../../test-support/held-store.ts";
import { detached, endOf, lifecycle, sendStream, stateOf, subscribe } from "../../test-support/tasks.ts";
import type { TaskCommit } from "../store/task-store.ts";

/** A scripted agent on a store that does what a test says. */
async function held(options: Partial<EngineHarnessOptions> = {}) {
  const store = createHeldStore();
  return { ...(await startScripted({}, { store, ...options })), store };
}

const hook = "https://a.example/hook";

const unavailable = { code: Code.Unavailable };

describe("durable before visible (design §1)", () => {
  it("shows no caller a task whose creation is under way", async () => {
    const { client, store, script, clock } = await held();
    store.hold();
    const outcomes: string[] = [];
    const answer = client.sendMessage(detached()).finally(() => outcomes.push("send"));
    const stream = sendStream(client);
    const turns = [await script.nextTurn(), await script.nextTurn()];
    for (const { turn, yields } of turns) await yields(turn.working());
    await clock.settle();
    expect(store.waiting).toBe(2);
    expect([outcomes, stream.events]).toEqual([[], []]);
    expect((await client.listTasks({})).totalSize).toBe(0);
    await expect(client.getTask({ id: turns[0]?.turn.taskId ?? "" })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    store.release();
    await answer;
    await clock.settle();
    expect(wordsOf(stream.events)).toEqual(["task submitted", "working"]);
  });

  it("shows nobody an event before its commit: not get, list, streams, nor who waits", async () => {
    const { client, store, startTask, clock } = await held();
    const { id, turn, yields, answer } = await startTask();
    let settled = false;
    void answer.then(() => {
      settled = true;
    });
    const stream = subscribe(client, id);
    await clock.settle();
    store.hold();
    await yields(turn.append("a", "1"));
    await yields(turn.complete("done"));
    await clock.settle();
    expect(store.waiting).toBe(1);
    const state = async () => ({
      got: await stateOf(client, id),
      artifacts: (await client.getTask({ id })).artifacts.length,
      listed: (await client.listTasks({})).tasks[0]?.status?.state,
      streamed: wordsOf(stream.events),
      settled,
    });
    expect(await state()).toEqual({
      got: TaskState.WORKING,
      artifacts: 0,
      listed: TaskState.WORKING,
      streamed: ["task working"],
      settled: false,
    });
    store.release();
    await stream.ended;
    await answer;
    expect(await state()).toEqual({
      got: TaskState.COMPLETED,
      artifacts: 1,
      listed: TaskState.COMPLETED,
      streamed: ["task working", "artifact a", "completed"],
      settled: true,
    });
  });

  it("runs no code of a queued task before its beginning is durable", async () => {
    const { client, store, script, clock, startTask } = await held({ limits: { maxRunning: 1 } });
    const first = await startTask();
    const { id } = taskOf(await client.sendMessage(detached()));
    const isBeginning = ({ entries }: TaskCommit) =>
      entries.some(({ payload }) => new TextDecoder().decode(payload).includes('"begun"'));
    store.decide((commit) => (isBeginning(commit) ? new ConnectError("full", Code.Unavailable) : "write"));
    first.returns();
    await clock.settle();
    expect(script.begun).toBe(1);
    expect(await stateOf(client, id)).toBe(TaskState.SUBMITTED);
  });

  it("takes what is accepted during a commit into the next one, in order", async () => {
    const { store, startTask, clock, client } = await held();
    const { id, turn, yields, returns, answer } = await startTask();
    store.hold();
    const before = store.calls.commit;
    for (let at = 0; at < 10; at += 1) {
      await yields(turn.append("a", `${at}`));
      await clock.settle();
    }
    store.release();
    returns();
    await answer;
    expect(store.calls.commit - before).toBeLessThanOrEqual(3);
    const { artifacts } = await client.getTask({ id });
    expect(artifacts[0]?.parts.map(({ content }) => content.value).join("")).toBe("0123456789");
  });

  it("does not answer a cancel before its end is durable", async () => {
    const { client, store, clock, startAsking } = await held();
    const { id } = await startAsking();
    store.hold();
    let canceled = false;
    const cancel = client.cancelTask({ id }).finally(() => {
      canceled = true;
    });
    await clock.settle();
    expect([canceled, await stateOf(client, id)]).toEqual([false, TaskState.INPUT_REQUIRED]);
    store.release();
    expect((await cancel).status?.state).toBe(TaskState.CANCELED);
  });
});

describe("a store that fails", () => {
  const fates: readonly (readonly [string, Fate])[] = [
    ["rejects with Unavailable", new ConnectError("no store", Code.Unavailable)],
    ["rejects with an error of its own", new Error("disk full")],
    ["refuses as conflict", "conflict"],
    ["refuses as fenced", "fenced"],
  ];
  for (const [what, fate] of fates) {
    it(`answers Unavailable when it ${what} a creation, and shows no task`, async () => {
      const { client, store, script, clock } = await held();
      store.decide(() => fate);
      const answer = expect(client.sendMessage(say("go"))).rejects.toMatchObject(unavailable);
      const stream = sendStream(client);
      const { turn, yields } = await script.nextTurn();
      const ended = yields(turn.working()).catch(() => "ended");
      const other = await script.nextTurn();
      void other.yields(other.turn.working()).catch(() => {});
      await answer;
      await expect(stream.ended).rejects.toMatchObject(unavailable);
      await ended;
      expect(turn.signal.reason).toMatchObject({ cause: "lost" });
      expect((await client.listTasks({})).totalSize).toBe(0);
      store.decide(() => "write");
      await clock.advance(20_000);
      expect((await client.listTasks({})).totalSize).toBe(0);
      expect(clock.alarms).toBe(0);
    });

    it(`answers everybody who waits when it ${what} an event; nothing hangs`, async () => {
      const { client, store, startTask, clock, log } = await held();
      const { id, turn, yields, answer } = await startTask();
      const stream = subscribe(client, id);
      await clock.settle();
      const blocked = expect(answer).rejects.toMatchObject(unavailable);
      store.decide(() => fate);
      void yields(turn.append("a", "1")).catch(() => {});
      await blocked;
      await expect(stream.ended).rejects.toMatchObject(unavailable);
      expect(wordsOf(stream.events)).toEqual(["task working"]);
      expect(turn.signal.reason).toMatchObject({ cause: "lost" });
      expect(log).toContainEqual(expect.objectContaining({ level: "error", taskId: id }));
      store.decide(() => "write");
      const task = await client.getTask({ id });
      expect([task.status?.state, task.artifacts]).toEqual([TaskState.WORKING, []]);
      await clock.advance(20_000);
      expect(clock.alarms).toBe(0);
    });

    it(`answers a cancel as Unavailable when it ${what} it, and reads anew for the next`, async () => {
      const { client, store, startAsking } = await held();
      const { id } = await startAsking();
      store.decide(() => fate);
      await expect(client.cancelTask({ id })).rejects.toMatchObject(unavailable);
      expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
      store.decide(() => "write");
      expect((await client.cancelTask({ id })).status?.state).toBe(TaskState.CANCELED);
    });
  }

  it.each([
    ["when the event comes", true],
    ["while the event is written", false],
  ])("answers calls, and those that come, when it cannot tell its room any more %s", async (_, isBefore) => {
    const lost = new ConnectError("the file is gone", Code.DataLoss);
    const store = createHeldStore();
    let isLost = false;
    const room = () => {
      if (isLost) throw lost;
      return { used: 0, free: 2 ** 40 };
    };
    const { startTask, clock } = await startScripted({}, { store: { ...store, room } });
    const { turn, yields, returns, answer } = await startTask();
    isLost = isBefore;
    store.hold();
    await clock.advance(1_000); // it is asked again
    await yields(turn.artifact({ text: "x" }));
    await clock.advance(1_000);
    isLost = true;
    store.decide(() => lost);
    store.release();
    await clock.settle();
    returns();
    await expect(answer).rejects.toMatchObject({ code: Code.DataLoss });
    await expect((await startTask()).answer).rejects.toMatchObject({ code: Code.DataLoss });
  });

  it("leaves no task at work without an executor: the task is FAILED as soon as the store can be written", async () => {
    const { client, store, startTask, clock } = await held();
    const { id, turn, yields, returns } = await startTask();
    store.decide(() => new Error("disk full"));
    void yields(turn.append("a", "1")).catch(() => {});
    await clock.settle();
    returns();
    await clock.advance(3_000);
    store.decide(() => "write");
    await clock.advance(1_000);
    expect(endOf(await client.getTask({ id }))).toEqual([TaskState.FAILED, "interrupted"]);
    expect(clock.alarms).toBe(0);
  });

  it("tells a webhook of an event whose commit it has written without an answer", async () => {
    const webhooks = createFakeWebhooks();
    const { client, store, script, clock } = await held({ push: { fetch: webhooks.fetch } });
    const configuration = { taskPushNotificationConfig: { url: hook } };
    void client.sendMessage({ ...say("go"), configuration }).catch(() => {});
    const { turn, yields } = await script.nextTurn();
    await yields(turn.working());
    await clock.settle();
    expect(webhooks.idsAt(hook)).toEqual([1, 2]);
    store.decide(() => "lose-answer");
    void yields(turn.complete("done")).catch(() => {});
    await clock.advance(1_000);
    expect(webhooks.idsAt(hook)).toEqual([1, 2, 3]);
    expect(clock.alarms).toBe(0);
  });

  it("times out a question whose commit it has written without an answer", async () => {
    const { client, store, startTask, clock } = await held();
    const { id, turn, yields } = await startTask();
    store.decide(() => "lose-answer");
    void yields(turn.inputRequired("?")).catch(() => {});
    await clock.settle();
    store.decide(() => "write");
    await clock.advance(600_000);
    expect(endOf(await client.getTask({ id }))).toEqual([TaskState.CANCELED, "input-timeout"]);
    expect(clock.alarms).toBe(0);
  });

  it("does not leave a task at work when it has written the answer to a question without an answer", async () => {
    const { client, store, startAsking, clock } = await held();
    const { id } = await startAsking();
    store.decide(() => "lose-answer");
    await expect(client.sendMessage(say("yes", { taskId: id }))).rejects.toMatchObject(unavailable);
    expect(await stateOf(client, id)).toBe(TaskState.WORKING);
    store.decide(() => "write");
    await clock.advance(1_000);
    expect(endOf(await client.getTask({ id }))).toEqual([TaskState.FAILED, "interrupted"]);
  });

  it("leaves a task that somebody else has taken over alone", async () => {
    const { client, store, startTask, clock } = await held();
    const { id, turn, yields, returns } = await startTask();
    await store.claim({ tenant: "", principal: "anonymous" }, id);
    void yields(turn.append("a", "1")).catch(() => {});
    returns();
    await clock.advance(60_000);
    expect(await stateOf(client, id)).toBe(TaskState.WORKING);
    expect(clock.alarms).toBe(0);
  });

  it("claims again after a claim that failed, also while somebody reads the task", async () => {
    const { client, store, clock, agent, script, startAsking } = await held();
    const { id } = await startAsking();
    const { client: later } = await createEngineHarness({
      agent,
      store,
      randomId: () => crypto.randomUUID(),
    });
    const stream = subscribe(later, id);
    await clock.settle();
    store.failClaims(new ConnectError("no store", Code.Unavailable));
    await expect(later.sendMessage(say("yes", { taskId: id }))).rejects.toMatchObject(unavailable);
    await expect(later.cancelTask({ id })).rejects.toMatchObject(unavailable);
    store.failClaims(undefined);
    const answer = later.sendMessage(say("yes", { taskId: id }));
    (await script.nextTurn()).returns();
    expect(taskOf(await answer).status?.state).toBe(TaskState.COMPLETED);
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task input-required", "working", "completed"]);
    expect((await client.getTask({ id })).id).toBe(id);
  });
});

describe("capacity", () => {
  it("runs maxRunning at a time; the others wait in SUBMITTED, in order, and one more is refused", async () => {
    const { client, script, clock } = await held({ limits: { maxRunning: 2, maxQueued: 2 } });
    const answers = ["1", "2", "3", "4"].map((words) => client.sendMessage(say(words)));
    await clock.advance(200);
    expect(script.begun).toBe(2);
    expect((await client.listTasks({ status: TaskState.SUBMITTED })).totalSize).toBe(4);
    await expect(client.sendMessage(say("5"))).rejects.toMatchObject({ code: Code.ResourceExhausted });
    const order: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      const { turn, returns } = await script.nextTurn();
      order.push(turn.text);
      returns();
      await clock.settle();
    }
    expect(order).toEqual(["1", "2", "3", "4"]);
    const states = (await Promise.all(answers)).map((answer) => taskOf(answer).status?.state);
    expect(states).toEqual(states.map(() => TaskState.COMPLETED));
  });

  it("serves waiting tasks by priority, then by age", async () => {
    const { client, script, clock, startTask } = await held({ limits: { maxRunning: 1 } });
    const busy = await startTask();
    for (const [words, priority] of [
      ["1", "low"],
      ["2", "normal"],
      ["3", undefined],
      ["4", "high"],
      ["5", "high"],
    ] as const) {
      const metadata = priority === undefined ? {} : lifecycle({ priority });
      await client.sendMessage(detached(words, metadata));
    }
    busy.returns();
    const order: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      const { turn, returns } = await script.nextTurn();
      order.push(turn.text);
      returns();
      await clock.settle();
    }
    expect(order).toEqual(["4", "5", "2", "3", "1"]);
  });

  it("takes an answer to a question even when the queue is full", async () => {
    const { client, script, clock, startTask, startAsking } = await held({
      limits: { maxRunning: 1, maxQueued: 0 },
    });
    const { id } = await startAsking();
    const busy = await startTask();
    await expect(client.sendMessage(say("new"))).rejects.toMatchObject({ code: Code.ResourceExhausted });
    const answered = client.sendMessage(say("yes", { taskId: id }));
    await clock.settle();
    busy.returns();
    (await script.nextTurn()).returns();
    expect(taskOf(await answered).status?.state).toBe(TaskState.COMPLETED);
  });

  it("gives the place of an executor that was abandoned to the next", async () => {
    const { client, script, clock, startTask } = await held({ limits: { maxRunning: 1 } });
    const { id } = await startTask();
    const waiting = client.sendMessage(say("second"));
    const cancel = client.cancelTask({ id });
    await clock.advance(10_000);
    await cancel;
    (await script.nextTurn()).returns();
    expect(taskOf(await waiting).status?.state).toBe(TaskState.COMPLETED);
  });
});
