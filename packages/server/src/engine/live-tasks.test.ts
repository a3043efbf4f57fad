import { setImmediate as nextTurn } from "node:timers/promises";
import { TaskState } from "@a2a-connect/proto";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { createEngineHarness, type FakeClock, say, wordsOf } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { sendTask, subscribe } from "../../test-support/tasks.ts";
import { TaskReadTurns } from "./capacity/task-read-turns.ts";

const kibibyte = 1_024;

/** Lets so many promises go first. */
async function pass(promises: number): Promise<void> {
  for (let passed = 0; passed < promises; passed++) await Promise.resolve();
}

/** How long reading a task takes, in promises: one caller lets go of it just when the other has read it. */
const readTimes = [1, 2, 3];

it.each(readTimes)(
  "finds a task that another caller lets go of meanwhile (read in %i promises)",
  async (time) => {
    for (let later = 0; later < 40; later++) {
      const store = createHeldStore();
      const { client, clock } = await createEngineHarness({
        agent: {
          card: { name: "Agent" },
          *execute(turn) {
            yield turn.inputRequired("Which?");
          },
        },
        store: {
          ...store,
          async find(...args) {
            await pass(time);
            return store.find(...args);
          },
        },
      });
      const { id } = await sendTask(client);
      store.failClaims(new ConnectError("the store cannot be written", Code.Unavailable));
      const answer = client.sendMessage(say("that", { taskId: id }));
      answer.catch(() => {}); // it is refused, and lets go of the task
      await pass(later);
      const stream = subscribe(client, id);
      await clock.settle();
      expect([wordsOf(stream.events), stream.open]).toEqual([["task input-required"], true]);
    }
  },
);

it("gives a reader that comes just when an event is committed that event once: in the task, or after it", async () => {
  const seen = new Set<string>();
  for (let time = 0; time < 60; time++) {
    const store = createHeldStore();
    const slow = {
      ...store,
      async commit(...args: Parameters<typeof store.commit>) {
        const result = await store.commit(...args);
        await pass(time);
        return result;
      },
    };
    const { client, startTask, clock } = await startScripted({}, { store: slow });
    const { id, turn, yields } = await startTask();
    store.hold();
    await yields(turn.inputRequired("Which?"));
    await clock.settle();
    store.release();
    const stream = subscribe(client, id);
    await clock.settle();
    seen.add(wordsOf(stream.events).join(", "));
  }
  expect(seen).toEqual(new Set(["task working, input-required", "task input-required"]));
});

/** A thousand answers to a task's question. @returns waits until each was taken or refused, some in a turn of the event loop */
function answerOften(client: Parameters<typeof sendTask>[0], taskId: string): () => Promise<void> {
  let settled = 0;
  const calls = Array.from({ length: 1_000 }, () =>
    sendTask(client, say("that", { taskId })).finally(() => settled++),
  );
  const results = Promise.allSettled(calls);
  return async () => {
    let most = 0;
    for (let before = 0; settled < 1_000; before = settled) {
      await nextTurn();
      most = Math.max(most, settled - before);
    }
    expect(most).toBeLessThan(200);
    expect((await results).filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  };
}

describe("a task that several callers load at the same time", () => {
  /** Three tasks that wait for an answer, and a store whose whole tasks and weights can be held back, as they were when they were read. */
  async function waitingTasks() {
    const store = createMemoryTaskStore();
    const held = new Map<string, PromiseWithResolvers<void>>();
    const finds: string[] = [];
    const { client, clientFrom, clock } = await createEngineHarness({
      agent: {
        card: { name: "Agent" },
        async *execute(turn) {
          if (turn.task === undefined) yield turn.inputRequired("Which?");
        },
      },
      limits: { maxActiveBytes: 1_024 * kibibyte },
      store: {
        ...store,
        async find(...args) {
          if (args[2] === "full") finds.push(args[1]);
          const stored = await store.find(...args);
          await (args[2] === "full" ? held.get(args[1])?.promise : undefined);
          return stored;
        },
        async weigh(...args) {
          const weight = await store.weigh(...args);
          await held.get(args[1])?.promise;
          return weight;
        },
      },
    });
    const ids = [];
    for (let task = 0; task < 3; task += 1)
      ids.push((await sendTask(client, say("x".repeat(200 * kibibyte)))).id);
    const hold = (id: string) => {
      const until = Promise.withResolvers<void>();
      held.set(id, until);
      return () => {
        if (held.get(id) === until) held.delete(id);
        until.resolve();
      };
    };
    return {
      ids,
      hold,
      finds,
      alice: clientFrom("alice's"),
      bob: clientFrom("bob's"),
      carol: clientFrom("carol's"),
      clock,
    };
  }

  it("is there for each as soon as its own load, however long another's take", async () => {
    const { ids, hold, alice, bob, clock } = await waitingTasks();
    const [one = "", two = "", three = ""] = ids;
    const letGo = [hold(one), hold(two)];
    const streams = ids.map((id) => subscribe(alice, id)); // she may read two at a time
    await clock.settle();
    const answered = await sendTask(bob, say("that", { taskId: three }));
    expect(answered.status?.state).toBe(TaskState.COMPLETED);
    for (const each of letGo) each();
    await clock.settle();
    expect(streams.map(({ events, open }) => [wordsOf(events), open])).toEqual([
      [["task input-required"], true],
      [["task input-required"], true],
      [[], false], // it has ended
    ]);
  });

  it("is not shown as a slower load has read it", async () => {
    const { ids, hold, alice, bob, clock } = await waitingTasks();
    const [id = ""] = ids;
    const letGo = hold(id);
    const stream = subscribe(alice, id);
    await clock.settle();
    hold(id)(); // from now on it is read at once
    await sendTask(bob, say("that", { taskId: id }));
    letGo();
    await clock.settle();
    expect([wordsOf(stream.events), stream.open]).toEqual([[], false]);
  });

  it("is read once by a slower load, however often another caller loads and lets go of it meanwhile", async () => {
    const { ids, hold, finds, alice, bob, clock } = await waitingTasks();
    const [id = ""] = ids;
    const letGo = hold(id);
    const stream = subscribe(alice, id);
    await clock.settle();
    hold(id)(); // from now on it is read at once
    for (let load = 0; load < 3; load += 1) {
      const other = subscribe(bob, id);
      await clock.settle();
      other.hangUp();
      await clock.settle();
    }
    letGo();
    await clock.settle();
    expect([wordsOf(stream.events), stream.open]).toEqual([["task input-required"], true]);
    expect(finds.filter((each) => each === id)).toHaveLength(4);
  });

  it("is held once by slower loads that end in the same turn, and leaves memory with the last call", async () => {
    const { ids, hold, alice, bob, carol, clock } = await waitingTasks();
    const [id = "", other = ""] = ids;
    const letGo = hold(id);
    const slow = [alice, carol].map((client) => subscribe(client, id));
    await clock.settle();
    hold(id)(); // from now on it is read at once
    const quick = subscribe(bob, id);
    await clock.settle();
    quick.hangUp();
    await clock.settle();
    const goOn = hold(id);
    letGo();
    await clock.settle();
    goOn(); // both have looked whether it is as they have read it
    await clock.settle();
    expect(slow.map(({ events, open }) => [wordsOf(events), open])).toEqual(
      slow.map(() => [["task input-required"], true]),
    );
    for (const stream of slow) stream.hangUp();
    await clock.settle();
    const large = say("x".repeat(600 * kibibyte), { taskId: other }); // nearly all that one caller may have
    expect((await sendTask(bob, large)).status?.state).toBe(TaskState.COMPLETED);
  });

  it.each([true, false])(
    "lets the calls that have waited for it go on some at a time (it exists: %s)",
    async (exists) => {
      const { ids, hold, alice, clock } = await waitingTasks();
      const [id = ""] = exists ? ids : ["no-task"];
      const letGo = hold(id);
      const streams = Array.from({ length: 1_000 }, () => subscribe(alice, id));
      let ended = 0;
      if (!exists) for (const stream of streams) void stream.ended.catch(() => (ended += 1));
      await clock.settle();
      letGo();
      const countBegun = () => streams.filter(({ events }) => events.length > 0).length + ended;
      let most = 0;
      for (let before = 0; before < 1_000; ) {
        await nextTurn();
        const begun = countBegun();
        most = Math.max(most, begun - before);
        before = begun;
      }
      expect(most).toBeLessThan(200);
    },
  );

  /** A task that waits for an answer, in a store that claims none before `goOn`. */
  async function unclaimedTask() {
    const claim = Promise.withResolvers<void>();
    const store = createMemoryTaskStore();
    const { client, clock } = await createEngineHarness({
      agent: {
        card: { name: "Agent" },
        async *execute(turn) {
          if (turn.task === undefined) yield turn.inputRequired("Which?");
        },
      },
      store: {
        ...store,
        async claim(...args) {
          await claim.promise;
          return store.claim(...args);
        },
      },
    });
    const { id } = await sendTask(client);
    return { client, clock, id, goOn: claim.resolve };
  }

  it("is claimed in the turns of its caller", async () => {
    const store = createMemoryTaskStore();
    const shares: unknown[] = [];
    const claim: typeof store.claim = (owner, taskId, share) => {
      shares.push(share);
      return store.claim(owner, taskId, share);
    };
    const { clientOf, clock } = await createEngineHarness({
      agent: {
        card: { name: "Agent" },
        async *execute(turn) {
          if (turn.task === undefined) yield turn.inputRequired("Which?");
        },
      },
      store: { ...store, claim },
    });
    const tasks = new Map<string, string>();
    for (const caller of ["alice", "bob"]) tasks.set(caller, (await sendTask(clientOf(caller))).id);
    await clock.advance(60_000); // they leave memory
    for (const [caller, taskId] of tasks) await sendTask(clientOf(caller), say("this", { taskId }));
    expect(shares).toEqual(["principal: alice", "principal: bob"]);
  });

  it("lets the calls that have waited for its claim go on some at a time", async () => {
    const { client, clock, id, goOn } = await unclaimedTask();
    const expectTurns = answerOften(client, id);
    for (let turns = 0; turns < 40; turns += 1) await nextTurn();
    await clock.settle();
    goOn();
    await expectTurns();
  });

  it("is not answered by calls that have gone while it is claimed, and they do not wait for that", async () => {
    const { client, clock, id, goOn } = await unclaimedTask();
    const hangUp = new AbortController();
    const options = { signal: hangUp.signal };
    const left = Array.from({ length: 100 }, () => sendTask(client, say("that", { taskId: id }), options));
    await clock.settle();
    hangUp.abort();
    expect((await Promise.allSettled(left)).every(({ status }) => status === "rejected")).toBe(true);
    goOn();
    expect(
      (await sendTask(client, say("this", { taskId: id }))).history.at(-1)?.parts[0]?.content.value,
    ).toBe("this");
  });

  it("is not canceled by a call that has gone while it is claimed", async () => {
    const { client, clock, id, goOn } = await unclaimedTask();
    const hangUp = new AbortController();
    const left = client.cancelTask({ id }, { signal: hangUp.signal });
    await clock.settle();
    hangUp.abort();
    await expect(left).rejects.toThrow("aborted");
    goOn();
    await clock.settle();
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
  });

  it("is loaded for the others when the call goes away that began its load", async () => {
    const { ids, hold, alice, clock } = await waitingTasks();
    const [one = "", two = "", three = ""] = ids;
    const letGo = [hold(one), hold(two)];
    const [, , first] = ids.map((id) => subscribe(alice, id));
    await clock.settle();
    const second = subscribe(alice, three);
    await clock.settle();
    first?.hangUp();
    for (const each of letGo) each();
    await clock.settle();
    expect([wordsOf(second.events), second.open]).toEqual([["task input-required"], true]);
  });

  it("waits for its turn once, however many of its calls go away, and is not read when all have gone", async () => {
    const { ids, hold, finds, alice, clock } = await waitingTasks();
    const [one = "", two = "", three = ""] = ids;
    const letGo = [hold(one), hold(two)];
    for (const id of [one, two]) subscribe(alice, id); // she may read two at a time
    await clock.settle();
    using waits = vi.spyOn(TaskReadTurns.prototype, "read");
    const follow = () => Array.from({ length: 100 }, () => subscribe(alice, three));
    const leave = async (streams: ReturnType<typeof follow>) => {
      for (const stream of streams) {
        stream.hangUp();
        await expect(stream.ended).rejects.toThrow();
      }
    };
    const streams = follow();
    await leave(streams.splice(0, 99));
    expect(waits).toHaveBeenCalledTimes(1);
    await leave(streams);
    const [last, ...others] = follow();
    await leave(others);
    expect(waits).toHaveBeenCalledTimes(2);
    expect(finds).not.toContain(three);
    for (const each of letGo) each();
    await clock.settle();
    expect(wordsOf(last?.events ?? [])).toEqual(["task input-required"]);
    expect(finds.filter((each) => each === three)).toHaveLength(1);
  });

  it("is not kept when its calls go away while it is read", async () => {
    const { ids, hold, finds, alice, clock } = await waitingTasks();
    const [id = ""] = ids;
    const letGo = hold(id);
    const stream = subscribe(alice, id);
    await clock.settle();
    stream.hangUp();
    await expect(stream.ended).rejects.toThrow();
    letGo();
    await clock.settle();
    expect(wordsOf(await eventsNow(alice, id, clock))).toEqual(["task input-required"]);
    expect(finds).toEqual([id, id]);
  });

  it("is not kept when its only call goes away at any moment", async () => {
    const { ids, finds, alice, clock } = await waitingTasks();
    const [id = ""] = ids;
    for (let later = 0; later < 60; later += 1) {
      finds.splice(0);
      const stream = subscribe(alice, id);
      await pass(later);
      stream.hangUp();
      await clock.settle();
      const left = finds.length;
      expect(wordsOf(await eventsNow(alice, id, clock))).toEqual(["task input-required"]);
      expect(finds.length).toBe(left + 1);
    }
  });
});

/** The first events of a stream. */
async function eventsNow(client: Parameters<typeof subscribe>[0], id: string, clock: FakeClock) {
  const stream = subscribe(client, id);
  await clock.settle();
  stream.hangUp();
  await clock.settle();
  return stream.events;
}
