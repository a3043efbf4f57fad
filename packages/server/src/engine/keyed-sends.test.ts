import { setImmediate as nextTurn } from "node:timers/promises";
import { bytes } from "@a2a-connect/core";
import { ReadTurns, SharedBudget } from "@a2a-connect/core/internal";
import { MessageSchema, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock, readStream, say, taskOf, wordsOf } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { beginLongWork } from "../../test-support/long-work.ts";
import { detached, sendTask } from "../../test-support/tasks.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import { StoredBytes } from "./capacity/stored-bytes.ts";
import { TaskReadTurns } from "./capacity/task-read-turns.ts";
import { defaultEngineLimits } from "./engine-context.ts";
import { KeyedSends } from "./keyed-sends.ts";
import type { Sent } from "./task-handle.ts";
import { findWakes } from "./wakes.ts";

const key = "0123456789abcdef";
const withKey = (value = key, more: Record<string, string> = {}) => ({
  headers: { "idempotency-key": value, ...more },
});
const resumed = (lastEventId: number) => withKey(key, { "last-event-id": String(lastEventId) });
const owner = { tenant: "", principal: "anonymous" };
const storedName = JSON.stringify(["Agent", "key", key]);

describe("a request with an idempotency key", () => {
  it("waits with the first for a direct Message, which is the same for both", async () => {
    const { client, script } = await startScripted();
    const answers = [1, 2].map(() => client.sendMessage(say("hi"), withKey()));
    const { turn, yields } = await script.nextTurn();
    await yields(turn.reply("hello"));
    const [first, second] = await Promise.all(answers);
    expect(second).toEqual(first);
    expect(first?.payload).toMatchObject({ case: "message" });
    expect(await client.sendMessage(say("hi"), withKey())).toEqual(first);
    const stream = readStream(() => client.sendStreamingMessage(say("hi"), withKey()));
    await stream.ended;
    expect(stream.events.map(({ payload }) => payload)).toEqual([first?.payload]);
    expect(script.begun).toBe(1);
  });

  it("is run anew when its direct Message has expired after 24 hours", async () => {
    const { client, script, store, clock } = await startScripted();
    const answer = async (text: string) => {
      const sent = client.sendMessage(say("hi"), withKey());
      const { turn, yields } = await script.nextTurn();
      await yields(turn.reply(text));
      return sent;
    };
    const first = await answer("one");
    const day = 86_400_000;
    await store.expire({ now: clock.now() + day, finishedBefore: undefined, limit: 100 });
    expect(await client.sendMessage(say("hi"), withKey())).toEqual(first);
    await store.expire({ now: clock.now() + day + 1, finishedBefore: undefined, limit: 100 });
    expect(await answer("two")).not.toEqual(first);
    expect(script.begun).toBe(2);
  });

  it("leaves nothing behind when it fails before there is a task, and the next is the first", async () => {
    const { client, script, store } = await startScripted();
    const first = client.sendMessage(say("go"), withKey());
    const broken = await script.nextTurn();
    const second = client.sendMessage(say("go"), withKey());
    broken.throws(new Error("broken"));
    await expect(first).rejects.toMatchObject({ code: Code.Internal });
    expect(await store.findKey(owner, storedName)).toBeUndefined();
    const { turn, yields, returns } = await script.nextTurn();
    await yields(turn.working());
    returns();
    expect(taskOf(await second).status?.state).toBe(TaskState.COMPLETED);
    expect(script.begun).toBe(2);
  });

  it("leaves nothing behind when it is refused", async () => {
    const { client, store } = await startScripted();
    for (const refused of [
      say("hi", { taskId: "nope" }),
      say([bytes(new Uint8Array([1]), { mediaType: "x/y" })]),
    ]) {
      await expect(client.sendMessage(refused, withKey())).rejects.toThrow();
      expect(await store.findKey(owner, storedName)).toBeUndefined();
    }
  });

  it("is refused when the key came with another request, by either way of sending", async () => {
    const { client, script } = await startScripted();
    const first = client.sendMessage(say("one"), withKey());
    const { turn, yields, returns } = await script.nextTurn();
    // The result of the first is still open: the second waits for it.
    const second = client.sendMessage(say("two"), withKey());
    await yields(turn.working());
    await expect(second).rejects.toMatchObject({ code: Code.FailedPrecondition });
    returns();
    await first;
    const stream = readStream(() => client.sendStreamingMessage(say("two"), withKey()));
    await expect(stream.ended).rejects.toMatchObject({ code: Code.FailedPrecondition });
    expect(script.begun).toBe(1);
  });

  it("may come with the key of one that failed before it was taken", async () => {
    const { client, script } = await startScripted();
    const first = client.sendMessage(say("one"), withKey());
    const broken = await script.nextTurn();
    const second = client.sendMessage(say("two"), withKey());
    broken.throws(new Error("broken"));
    await expect(first).rejects.toMatchObject({ code: Code.Internal });
    const { turn, yields } = await script.nextTurn();
    await yields(turn.reply("hello"));
    expect((await second).payload.case).toBe("message");
  });
});

it("direct Messages that wait to be stored count for their caller: it gets no more of them, and loses none", async () => {
  const store = createMemoryTaskStore();
  const stored = Promise.withResolvers<void>();
  let [waiting, begun] = [0, 0];
  const putReply: typeof store.putReply = async (...reply) => {
    waiting += 1;
    await stored.promise;
    return store.putReply(...reply);
  };
  const { client } = await createEngineHarness({
    agent: {
      card: { name: "Agent" },
      async *execute(turn) {
        begun += 1;
        yield turn.reply("x".repeat(500_000));
      },
    },
    store: { ...store, putReply },
    limits: { ...defaultEngineLimits, maxActiveBytes: 8 * 2 ** 20 },
  });
  const refused: Code[] = [];
  const sent: Promise<unknown>[] = [];
  for (let count = 0; count < 30; count += 1) {
    const answer = client.sendMessage(say("hi"), withKey(`${key}-${count}`));
    sent.push(answer.catch((error: ConnectError) => refused.push(error.code)));
    await expect.poll(() => waiting + refused.length, { interval: 1 }).toBe(count + 1);
  }
  expect(waiting).toBeLessThan(20); // of 1 MB each
  expect(new Set(refused)).toEqual(new Set([Code.ResourceExhausted]));
  expect(begun).toBe(waiting);
  stored.resolve();
  await Promise.all(sent);
  await client.sendMessage(say("hi"), withKey()); // nothing counts any more
});

describe("many requests with the same idempotency key", () => {
  const caller = { share: undefined };
  const request = { owner, key: { key: storedName, fingerprint: new Uint8Array([1]) }, caller };

  function createSends() {
    const clock = createFakeClock();
    const wakes = findWakes(clock);
    const store = createMemoryTaskStore();
    const sends = new KeyedSends({
      store,
      clock,
      stored: new StoredBytes(1),
      log: () => {},
      nameOwner: () => "",
      wakes,
      reads: { tasks: new TaskReadTurns(store), lists: new ReadTurns(2), loads: new ReadTurns(4) },
    });
    return { sends, wakes };
  }

  /** The most of them that went on in one turn of the event loop after the first was decided. */
  async function goOn(decide: (first: PromiseWithResolvers<Sent>) => void) {
    const { sends } = createSends();
    const first = Promise.withResolvers<Sent>();
    let begun = 0;
    const take = (): Promise<Sent> => {
      begun += 1;
      return begun === 1 ? first.promise : Promise.reject(new Error("refused"));
    };
    const budget = new SharedBudget({ max: 1, maxShare: 1, refuse: () => new Error("full") });
    const repeat = () => Promise.reject(new Error("there is no task"));
    const hold = () => budget.open(undefined);
    let settled = 0;
    const calls = Array.from({ length: 1_000 }, () =>
      sends.send({ ...request, take, repeat, hold }).finally(() => settled++),
    );
    const results = Promise.allSettled(calls);
    await nextTurn();
    decide(first);
    let most = 0;
    for (let before = 0; settled < 1_000; before = settled) {
      await nextTurn();
      most = Math.max(most, settled - before);
    }
    return { most, begun, results: await results };
  }

  it("read the direct Message of the first one in a slice: it may be large", async () => {
    const message = create(MessageSchema, { messageId: "m" });
    const { most, begun, results } = await goOn((first) => first.resolve({ kind: "message", message }));
    expect(most).toBeLessThanOrEqual(2); // the first, and one that has read it
    expect(begun).toBe(1);
    expect(results.every(({ status }) => status === "fulfilled")).toBe(true);
  });

  it("take turns at being the first, a few in a turn, when each of them fails", async () => {
    const { most, begun } = await goOn((first) => first.reject(new Error("refused")));
    expect(most).toBeLessThanOrEqual(65);
    expect(begun).toBe(1_000);
  });

  it("leave when their callers go, before the first is decided, and the next is one that has stayed", async () => {
    const { sends } = createSends();
    const budget = new SharedBudget({ max: 100, maxShare: 1, refuse: () => new Error("full") });
    const hold = () => {
      const holding = budget.open("caller");
      holding.add(1);
      return holding;
    };
    const repeat = () => Promise.reject(new Error("there is no task"));
    const first = Promise.withResolvers<Sent>();
    const ended = sends.send({ ...request, take: () => first.promise, repeat, hold });
    const hangUp = new AbortController();
    const gone = new ConnectError("gone", Code.Canceled);
    const signal = () => hangUp.signal;
    const left = Array.from({ length: 99 }, () =>
      sends.send({ ...request, caller: { ...caller, signal }, take: unexpected, repeat, hold }),
    );
    const message = create(MessageSchema, { messageId: "m" });
    const answer: Sent = { kind: "message", message };
    const stays = sends.send({ ...request, take: async () => answer, repeat, hold });
    expect(() => hold()).toThrow("full");
    hangUp.abort(gone);
    expect(await Promise.allSettled(left)).toEqual(left.map(() => ({ status: "rejected", reason: gone })));
    for (let waiting = 1; waiting < 100; waiting += 1) hold();
    expect(() => hold()).toThrow("full");
    first.reject(new Error("refused"));
    await expect(ended).rejects.toThrow("refused");
    expect(await stays).toBe(answer);
  });

  it("hand on their turn when their caller goes just as they are the first", async () => {
    const { sends, wakes } = createSends();
    const hold = () => new SharedBudget({ max: 1, maxShare: 1, refuse: Error }).open(undefined);
    const first = Promise.withResolvers<Sent>();
    const hangUp = new AbortController();
    const signal = () => hangUp.signal;
    let begun = 0;
    const refused = () => {
      begun += 1;
      return Promise.reject(new Error("refused"));
    };
    const more = { repeat: unexpected, hold };
    const ended = sends.send({ ...request, take: () => first.promise, ...more });
    const left = sends.send({ ...request, caller: { ...caller, signal }, take: refused, ...more });
    const message = create(MessageSchema, { messageId: "m" });
    const stays = sends.send({ ...request, take: async () => ({ kind: "message", message }), ...more });
    wakes.calls.wake(Array.from({ length: 64 }, () => () => {})); // the next one has to wait for another turn
    first.reject(new Error("refused"));
    await expect(ended).rejects.toThrow("refused");
    hangUp.abort();
    await expect(left).rejects.toThrow("refused");
    expect([begun, await stays]).toEqual([1, { kind: "message", message }]);
  });
});

function unexpected(): Promise<Sent> {
  return Promise.reject(new Error("it is not its turn"));
}

describe("an answer to a question with an idempotency key", () => {
  /** A task that has asked, was answered with the key, asked again, was answered without one, and is worked on. */
  async function answeredTwice(store = createMemoryTaskStore()) {
    const harness = await startScripted({}, { store });
    const { client, script } = harness;
    const asked = client.sendMessage(say("go"));
    const { turn, yields } = await script.nextTurn();
    await yields(turn.inputRequired("Name?"));
    const { id } = taskOf(await asked);
    const request = say("Ada", { taskId: id });
    const again = client.sendMessage(request, withKey());
    const second = await script.nextTurn();
    await second.yields(second.turn.inputRequired("Surname?"));
    const askedAgain = taskOf(await again);
    const last = client.sendMessage(say("Lovelace", { taskId: id }));
    const third = await script.nextTurn();
    await third.yields(third.turn.working("looking"));
    return { ...harness, id, request, askedAgain, last, third };
  }

  it("is taken once, and a repeat waits for the next question", async () => {
    const { client, script } = await startScripted();
    const asked = client.sendMessage(say("go"));
    const { turn, yields } = await script.nextTurn();
    await yields(turn.inputRequired("Name?"));
    const { id } = taskOf(await asked);
    const request = say("Ada", { taskId: id });
    const answers = Array.from({ length: 10 }, () => client.sendMessage(request, withKey()));
    const second = await script.nextTurn();
    const stream = readStream((signal) => client.sendStreamingMessage(request, { ...withKey(), signal }));
    await vi.waitFor(() => expect(stream.events).toHaveLength(1)); // it begins with the task as it is now
    await second.yields(second.turn.working("looking"));
    await second.yields(second.turn.inputRequired("Surname?"));
    const [first, ...others] = (await Promise.all(answers)).map(taskOf);
    expect(first?.status?.state).toBe(TaskState.INPUT_REQUIRED);
    expect(first?.history.filter(({ parts }) => parts[0]?.content.value === "Ada")).toHaveLength(1);
    for (const other of others) expect(other).toEqual(first);
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task working", "working", "input-required"]);
    expect(script.begun).toBe(2);
  });

  for (const [where, other] of [
    ["in the same process", false],
    ["in another process, which has to look into the log", true],
  ] as const) {
    it(`is answered at once when the task was settled since, also when it goes on, ${where}`, async () => {
      const store = createMemoryTaskStore();
      const elsewhere = await startScripted({}, { store });
      const { client, id, request, last, third } = await answeredTwice(store);
      const asking = other ? elsewhere.client : client;
      const task = await sendTask(asking, request, withKey());
      expect(task).toMatchObject({ id, status: { state: TaskState.WORKING } });
      const stream = readStream(() => asking.sendStreamingMessage(request, withKey()));
      await stream.ended;
      expect(wordsOf(stream.events)).toEqual(["task working"]);
      third.returns();
      expect(taskOf(await last).status?.state).toBe(TaskState.COMPLETED);
      expect(elsewhere.script.begun).toBe(0);
    });
  }
});

describe("a message to a task at work with an idempotency key", () => {
  it("is queued once, and a repeat waits for the task as the first does", async () => {
    const { client, script, clock } = await startScripted({ whileWorking: "queue" });
    const started = client.sendMessage(say("go"));
    const { turn, yields, returns } = await script.nextTurn();
    await yields(turn.working("busy"));
    await clock.settle();
    const [{ id } = expect.fail("there is no task")] = (await client.listTasks({})).tasks;
    const request = say("more", { taskId: id });
    const answers = Array.from({ length: 5 }, () => client.sendMessage(request, withKey()));
    const now = { ...request, configuration: { returnImmediately: true } };
    expect((await sendTask(client, now, withKey())).id).toBe(id);
    returns();
    const second = await script.nextTurn();
    expect(second.turn.text).toBe("more");
    second.returns();
    const [first, ...others] = (await Promise.all([...answers, started])).map(taskOf);
    expect(first?.status?.state).toBe(TaskState.COMPLETED);
    for (const other of others) expect(other).toEqual(first);
    expect(first?.history.filter(({ parts }) => parts[0]?.content.value === "more")).toHaveLength(1);
    expect(script.begun).toBe(2);
  });

  it("is refused to a repeat as to the first when the task ends before it has its turn, also by another process", async () => {
    const store = createMemoryTaskStore();
    const { client, script, clock } = await startScripted({ whileWorking: "queue" }, { store });
    const started = client.sendMessage(say("go"));
    const { turn, yields } = await script.nextTurn();
    await yields(turn.working("busy"));
    await clock.settle();
    const [{ id } = expect.fail("there is no task")] = (await client.listTasks({})).tasks;
    const request = say("more", { taskId: id });
    const neverRead = { message: expect.stringContaining("before it read this message") };
    const now = { ...request, configuration: { returnImmediately: true } };
    expect((await sendTask(client, now, withKey())).status?.state).toBe(TaskState.WORKING);
    const waiting = expect(client.sendMessage(request, withKey())).rejects.toMatchObject(neverRead);
    void yields(turn.complete("enough"));
    await Promise.all([waiting, started]);
    const other = await startScripted({ whileWorking: "queue" }, { store });
    for (const repeated of [client, other.client]) {
      await expect(repeated.sendMessage(request, withKey())).rejects.toMatchObject(neverRead);
      const stream = readStream(() => repeated.sendStreamingMessage(request, withKey()));
      await expect(stream.ended).rejects.toMatchObject(neverRead);
      expect(stream.events).toEqual([]);
      expect((await sendTask(repeated, now, withKey())).status?.state).toBe(TaskState.COMPLETED);
    }
  });

  it("is compared with others like it, which no turn read, one in a slice, and not behind other long work", async () => {
    const { client, script, clock } = await startScripted({ whileWorking: "queue" });
    const started = client.sendMessage(say("go"));
    const { turn, yields } = await script.nextTurn();
    await yields(turn.working("busy"));
    await clock.settle();
    const [{ id } = expect.fail("there is no task")] = (await client.listTasks({})).tasks;
    const { message } = say("more", { taskId: id, messageId: "same" });
    const configuration = { returnImmediately: true };
    const others = 30;
    const nth = (at: number) => ({ ...message, referenceTaskIds: [String(100 + at)] });
    const keyOf = (at: number) => withKey(`${key}-${at}`);
    for (let at = 0; at < others; at += 1) {
      await client.sendMessage({ message: nth(at), configuration }, keyOf(at));
    }
    void yields(turn.complete("enough"));
    await started;
    const work = beginLongWork(undefined, 3_000); // of the same caller
    let isOver = false;
    const repeat = client.sendMessage({ message: nth(others - 1) }, keyOf(others - 1)).finally(() => {
      isOver = true;
    });
    const refused = expect(repeat).rejects.toThrow("before it read this message");
    let turns = 0;
    for (; !isOver; turns += 1) await nextTurn();
    await refused;
    expect(turns).toBeGreaterThanOrEqual(others); // of the event loop
    expect(work.begun).toBeLessThan(1_500);
    await work.over;
  });
});

describe("two servers on one store", () => {
  it("take a request once: the slower one attaches to the task of the quicker", async () => {
    const store = createMemoryTaskStore();
    const [quick, slow] = [await startScripted({}, { store }), await startScripted({}, { store })];
    const slowAnswer = slow.client.sendMessage(detached(), withKey());
    const slowTurn = await slow.script.nextTurn();
    const quickAnswer = quick.client.sendMessage(say("go"), withKey());
    const quickTurn = await quick.script.nextTurn();
    await quickTurn.yields(quickTurn.turn.working());
    await quick.clock.settle();
    const { signal } = slowTurn.turn;
    void slowTurn.yields(slowTurn.turn.working());
    await slow.clock.settle();
    expect(signal.aborted).toBe(true);
    quickTurn.returns();
    expect(taskOf(await slowAnswer).id).toBe(taskOf(await quickAnswer).id);
    expect((await quick.client.listTasks({})).totalSize).toBe(1);
  });

  it("answer with one direct Message", async () => {
    const store = createMemoryTaskStore();
    const [quick, slow] = [await startScripted({}, { store }), await startScripted({}, { store })];
    const answers = [slow, quick].map(({ client }) => client.sendMessage(say("go"), withKey()));
    const [slowTurn, quickTurn] = [await slow.script.nextTurn(), await quick.script.nextTurn()];
    await quickTurn.yields(quickTurn.turn.reply("quick"));
    const quickAnswer = await answers[1];
    await slowTurn.yields(slowTurn.turn.reply("slow"));
    expect(await answers[0]).toEqual(quickAnswer);
  });
});

describe("Last-Event-ID on SendStreamingMessage", () => {
  const stream = (
    client: Awaited<ReturnType<typeof startScripted>>["client"],
    options: ReturnType<typeof withKey>,
  ) => readStream(() => client.sendStreamingMessage(say("go"), options));

  it("goes on after that event when the key is known, also when the task has ended", async () => {
    const { client, script } = await startScripted();
    const first = stream(client, withKey());
    const { turn, yields, returns } = await script.nextTurn();
    await yields(turn.working());
    await yields(turn.artifact({ id: "a", text: "result" }));
    const early = stream(client, resumed(2));
    returns();
    await Promise.all([first.ended, early.ended]);
    expect(early.events).toEqual(first.events.slice(2));
    for (const seen of [0, 1, 3, 4]) {
      const reader = stream(client, resumed(seen));
      await reader.ended;
      expect(reader.events).toEqual(first.events.slice(seen));
    }
    const beyond = stream(client, resumed(5));
    await expect(beyond.ended).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect(script.begun).toBe(1);
  });

  it("starts an unknown request from event 0, and refuses to go on from any other", async () => {
    const { client, script } = await startScripted();
    const refused = stream(client, resumed(3));
    await expect(refused.ended).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringMatching(/^Last-Event-ID: /),
    });
    expect(script.begun).toBe(0);
    const begun = stream(client, resumed(0));
    const { returns } = await script.nextTurn();
    returns();
    await begun.ended;
    expect(wordsOf(begun.events)).toEqual(["task submitted", "completed"]);
  });
});

describe("dedupeMessageIds (A-11)", () => {
  const messageId = "8e03978e-40d5-43dd-bc93-6894a57f9324";

  it("takes a message once that comes without a key", async () => {
    const { client, script } = await startScripted({ dedupeMessageIds: true });
    const answers = [1, 2].map(() => client.sendMessage(say("go", { messageId })));
    (await script.nextTurn()).returns();
    const [one, two] = await Promise.all(answers);
    expect(two).toEqual(one);
    await expect(client.sendMessage(say("another", { messageId }))).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
    expect(script.begun).toBe(1);
  });
});
