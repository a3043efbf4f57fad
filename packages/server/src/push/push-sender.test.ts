import { StreamResponseSchema } from "@a2a-connect/proto";
import {
  alice,
  type CommitInit,
  createCommit,
  createFakeClock,
  createPushConfig,
  createTurnCount,
} from "@a2a-connect/testing";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFakeWebhooks } from "../../test-support/fake-webhooks.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { LogTail, TaskStore } from "../store/task-store.ts";
import type { PushOptions } from "./push-options.ts";
import { PushSender } from "./push-sender.ts";

const a = "https://a.example/hook?key=url-secret";
const b = "https://b.example/hook";

/** A sender over a store in memory, and tasks that are written without an engine. */
function setUp(
  options: Partial<PushOptions> = {},
  wrap: (store: TaskStore) => Partial<TaskStore> = () => ({}),
) {
  const memory = createMemoryTaskStore();
  const store = { ...memory, ...wrap(memory) };
  const clock = createFakeClock();
  const webhooks = createFakeWebhooks();
  const log: LogRecord[] = [];
  const create = () =>
    new PushSender(
      {
        store,
        clock,
        limits: { maxShare: 7 / 8 },
        nameOwner: ({ principal }) => `principal ${principal}`,
        log: (record) => log.push(record),
        random: () => 1,
      },
      { fetch: webhooks.fetch, ...options },
    );
  const sender = create();
  const tails = new Map<string, LogTail>();
  const commit = async (taskId: string, init: CommitInit = {}, share = "network 192.0.2.9") => {
    const tail = tails.get(taskId);
    const after = tail === undefined ? {} : { after: { tail, fence: 1 } };
    const result = await store.commit(createCommit({ taskId, ...after, ...init }));
    if ("refused" in result) throw new Error(`the commit was refused: ${result.refused}`);
    tails.set(taskId, result.tail);
    if (result.deliveryDue) sender.wake({ owner: alice, taskId, share });
  };
  /** A task with one webhook and that many events. */
  const start = (taskId: string, url: string, events = 1, id = "hook") =>
    commit(taskId, {
      kinds: ["task", ...Array.from({ length: events - 1 }, () => "artifact" as const)],
      pushConfigs: [createPushConfig(taskId, id, url)],
    });
  const remove = async (taskId: string, id = "hook") => {
    await store.deletePushConfig(alice, taskId, id);
    sender.configChanged({ owner: alice, taskId, id });
  };
  const put = async (taskId: string, url: string, id = "hook") => {
    await store.putPushConfig(alice, createPushConfig(taskId, id, url));
    sender.configChanged({ owner: alice, taskId, id });
  };
  return { ...webhooks, store, clock, log, sender, create, commit, start, remove, put };
}

describe("the sender", () => {
  it("tells a webhook of every event once, in order, from the task's creation on (A-14, N-1, N-4)", async () => {
    const { start, commit, clock, received, idsAt } = setUp();
    await start("task-1", a, 3);
    await clock.settle();
    await commit("task-1", { kinds: ["artifact", "status"] });
    await clock.settle();
    expect(idsAt(a)).toEqual([1, 2, 3, 4, 5]);
    const payloads = received.map(({ body }) => Object.keys(JSON.parse(body))[0]);
    expect(payloads).toEqual(["task", "artifactUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"]);
    expect(new Set(received.map(({ method, redirect }) => `${method} ${redirect}`))).toEqual(
      new Set(["POST manual"]),
    );
    expect(clock.alarms).toBe(0);
  });

  it("begins few requests in a turn of the event loop", async () => {
    const begun = createTurnCount();
    const { start } = setUp({
      async fetch() {
        begun.count();
        return new Response(null, { status: 204 });
      },
    });
    for (let task = 0; task < 60; task += 1) await start(`task-${task}`, a);
    await expect.poll(() => begun.total).toBe(60);
    expect(begun.mostInATurn).toBeLessThanOrEqual(16); // eight at the end of a turn, and eight of the next
  });

  it("tells a webhook of a 0.3 caller the task once for all events that it has had by then", async () => {
    const retry = { initialMs: 1_000, maxMs: 1_000 };
    const { commit, clock, answer, received, idsAt } = setUp({ retry });
    const config = createPushConfig("task-1", "hook", a);
    config.$unknown = [{ no: 100_000, wireType: 0, data: Uint8Array.of(1) }]; // as the codec of 0.3 marks it
    await commit("task-1", { kinds: ["task", "artifact", "artifact"], pushConfigs: [config] });
    await clock.settle();
    answer(a, 500);
    await commit("task-1", { kinds: ["artifact", "artifact"] });
    await clock.settle();
    answer(a, 204);
    await commit("task-1", { kinds: ["artifact", "status"] });
    await clock.advance(1_000);
    expect(idsAt(a)).toEqual([3, 5, 7]);
    expect(received.map(({ body }) => JSON.parse(body).kind)).toEqual(["task", "task", "task"]);
  });

  it("tells one that is registered later of what comes after", async () => {
    const { start, put, commit, clock, idsAt } = setUp();
    await start("task-1", a, 2);
    await put("task-1", b, "later");
    await clock.settle();
    await commit("task-1");
    await clock.settle();
    expect(idsAt(a)).toEqual([1, 2, 3]);
    expect(idsAt(b)).toEqual([3]);
  });

  it("takes what an earlier process left, and loses nothing with a wake-up", async () => {
    const { store, create, clock, idsAt } = setUp();
    const pushConfigs = [createPushConfig("task-1", "hook", a)];
    await store.commit(createCommit({ kinds: ["task", "status"], pushConfigs }));
    await clock.settle();
    expect(idsAt(a)).toEqual([]);
    create().wake();
    await clock.settle();
    expect(idsAt(a)).toEqual([1, 2]);
  });
});

describe("a webhook that fails", () => {
  const noAnswer = Object.assign(new TypeError(`cannot reach ${a}`), { cause: { code: "ECONNREFUSED" } });

  for (const [name, answer] of [
    ["500", 500],
    ["410", 410],
    ["a redirect", 307],
    ["no answer", noAnswer],
  ] as const) {
    it(`with ${name} gets the same event again, later and later, before any other (N-5)`, async () => {
      const hooks = setUp();
      hooks.answer(a, answer);
      await hooks.start("task-1", a, 2);
      await hooks.clock.settle();
      for (const [delayMs, attempts] of [
        [999, 1],
        [1, 2],
        [1_999, 2],
        [1, 3],
        [3_999, 3],
        [1, 4],
      ] as const) {
        await hooks.clock.advance(delayMs);
        expect(hooks.idsAt(a)).toEqual(Array.from({ length: attempts }, () => 1));
      }
      hooks.answer(a, 204);
      await hooks.clock.advance(8_000);
      expect(hooks.idsAt(a)).toEqual([1, 1, 1, 1, 1, 2]);
    });
  }

  it("because an older version has stored too long a host is not called, and is tried again like any other", async () => {
    const { start, clock, received, log } = setUp();
    await start("task-1", `https://${"\u4e00".repeat(262)}/`);
    await clock.settle();
    await clock.advance(1_000);
    expect(received).toEqual([]);
    expect(log.map(({ message }) => message)).toEqual([
      "a webhook was not called, because its URL is none or has too long a host; trying again until it takes the event",
    ]);
    expect(clock.alarms).toBe(2); // its next attempt, and the end of the period for which this one keeps its place
  });

  it("is tried at least once an hour, for as long as it takes", async () => {
    const { start, clock, answer, idsAt } = setUp();
    answer(a, 503);
    await start("task-1", a);
    await clock.advance(24 * 3_600_000);
    const before = idsAt(a).length;
    await clock.advance(3_600_000);
    expect(idsAt(a).length).toBeGreaterThan(before);
    answer(a, 200);
    await clock.advance(3_600_000);
    const after = idsAt(a).length;
    await clock.advance(24 * 3_600_000);
    expect(idsAt(a)).toHaveLength(after);
  });

  it("is given 15 s to answer, and holds up nobody (N-5)", async () => {
    const { start, commit, clock, answer, received, idsAt } = setUp();
    answer(a, "hang");
    await start("task-1", a);
    await start("task-2", b);
    await clock.advance(14_999);
    await commit("task-1");
    await commit("task-2");
    await clock.settle();
    expect([idsAt(a), idsAt(b)]).toEqual([[1], [1, 2]]);
    expect(received[0]?.signal.aborted).toBe(false);
    answer(a, 200);
    await clock.advance(1);
    expect(received[0]?.signal.aborted).toBe(true);
    await clock.advance(1_000);
    expect(idsAt(a)).toEqual([1, 1, 2]);
  });

  it("is not read for long: an answer without an end is cut off", async () => {
    const { start, clock, answer, idsAt } = setUp();
    let chunks = 0;
    let canceled = 0;
    const endless = () =>
      new ReadableStream({
        pull(stream) {
          chunks += 1;
          stream.enqueue(new Uint8Array(1_024));
        },
        cancel() {
          canceled += 1;
        },
      });
    answer(a, async () => new Response(endless()));
    await start("task-1", a, 2);
    await clock.settle();
    expect(idsAt(a)).toEqual([1, 2]);
    expect(canceled).toBe(2);
    expect(chunks).toBeLessThan(60);
  });

  it("is logged once, and once when it works again, without anything private (N-9, O-10)", async () => {
    const { start, clock, answer, log } = setUp();
    answer(a, noAnswer);
    await start("task-1", a);
    await clock.advance(60_000);
    answer(a, 200);
    await clock.advance(60_000);
    expect(log.map(({ level, taskId }) => `${level} ${taskId}`)).toEqual(["warn task-1", "info task-1"]);
    expect(log[0]?.message).toContain("ECONNREFUSED");
    expect(JSON.stringify(log)).not.toMatch(/secret|token|a\.example/);
  });
});

describe("many webhooks", () => {
  it("take turns, however many events wait behind one of them", async () => {
    const { start, clock, received } = setUp({ maxConcurrent: 1 });
    await start("task-1", a, 1_000);
    await start("task-2", b, 2);
    await clock.settle();
    expect(received).toHaveLength(1_002);
    expect(received.slice(0, 5).filter(({ url }) => url === b)).toHaveLength(2);
  });

  it("are told by as many requests at a time as the option allows", async () => {
    const { start, clock, received, answer } = setUp({ maxConcurrent: 4 });
    for (let task = 1; task <= 20; task += 1) {
      const url = `https://${task}.example/hook`;
      answer(url, "hang");
      await start(`task-${task}`, url);
    }
    await clock.settle();
    expect(received).toHaveLength(4);
    await clock.advance(15_000);
    expect(received.length).toBeLessThanOrEqual(8);
  });

  it("take turns, also when there are more of them than are read at a time", async () => {
    const { start, clock, received } = setUp({ maxConcurrent: 1 });
    const tasks = Array.from({ length: 20 }, (_, at) => `task-${at}`);
    for (const task of tasks) await start(task, `${b}/${task}`, 3);
    await clock.settle();
    expect(received).toHaveLength(60);
    for (const round of [1, 2, 3]) {
      const urls = received.filter(({ eventId }) => eventId === round).map(({ url }) => url);
      expect(new Set(urls).size).toBe(20);
      expect(received.slice(20 * (round - 1), 20 * round).map(({ url }) => url)).toEqual(urls);
    }
  });

  it("that have failed are tried again at their time, however many others wait", async () => {
    const { start, clock, answer, received, idsAt } = setUp({
      maxConcurrent: 1,
      retry: { initialMs: 2_000 },
    });
    answer(a, 500);
    await start("failed", a);
    await clock.advance(1_000);
    answer(a, 200);
    const reply = Promise.withResolvers<Response>();
    for (let task = 1; task <= 20; task += 1) {
      const url = `${b}/${task}`;
      answer(url, () => reply.promise.then(() => new Response()));
      await start(`task-${task}`, url, 2);
    }
    await clock.advance(1_000);
    expect(idsAt(a)).toEqual([1]);
    reply.resolve(new Response());
    await clock.settle();
    expect(received.findIndex(({ url }, at) => url === a && at > 0)).toBeLessThanOrEqual(2);
    expect(idsAt(a)).toEqual([1, 1]);
  });

  it("of one origin that is slow leave half of the places to the others", async () => {
    const { start, clock, answer, idsAt, received } = setUp({ maxConcurrent: 4 });
    for (let task = 1; task <= 100; task += 1) {
      answer(`${b}/${task}`, "hang");
      await start(`task-${task}`, `${b}/${task}`);
    }
    await clock.settle();
    expect(received).toHaveLength(2);
    await start("healthy", a, 3);
    await clock.advance(1_000);
    expect(idsAt(a)).toEqual([1, 2, 3]);
    expect(received).toHaveLength(2 + 3);
    expect(clock.alarms).toBe(2); // two timeouts: a sender that has looked at all of them looks no more
  });

  it("that hang do not keep the others waiting for their timeouts", async () => {
    const { start, clock, answer, idsAt } = setUp({ maxConcurrent: 4 });
    for (let task = 1; task <= 100; task += 1) {
      const url = `https://${task}.example/hook`;
      answer(url, "hang");
      await start(`task-${task}`, url);
    }
    await clock.advance(900_000); // each has failed: two of the four places are for those that have not
    await start("healthy", a, 100);
    await clock.settle();
    expect(idsAt(a)).toHaveLength(100);
  });
});

describe("callers", () => {
  it("with thousands of webhooks that hang do not let a new event of others wait for a look at all of them", async () => {
    let looks = 0;
    const hooks = setUp({ maxConcurrent: 32 }, (store) => ({
      dueDeliveries(query) {
        looks += 1;
        return store.dueDeliveries(query);
      },
    }));
    const { start, commit, sender, clock, answer, idsAt } = hooks;
    for (let task = 1; task <= 2_000; task += 1) {
      const url = `https://${task}.example/hook`;
      const taskId = `hanging-${task}`;
      answer(url, "hang");
      sender.noteCaller({ owner: alice, taskId, id: "hook" }, "network 192.0.2.1");
      await start(taskId, url);
    }
    await clock.settle();
    looks = 0;
    await start("task-1", a, 3);
    await clock.settle();
    expect([idsAt(a), looks]).toEqual([[1, 2, 3], expect.toSatisfy((count: number) => count <= 7)]);
    const reply = Promise.withResolvers<Response>();
    answer(a, () => reply.promise);
    await commit("task-1");
    await clock.settle();
    await commit("task-1"); // while its webhook has not answered
    await clock.settle();
    looks = 0;
    reply.resolve(new Response());
    await clock.settle();
    expect([idsAt(a), looks]).toEqual([[1, 2, 3, 4, 5], expect.toSatisfy((count: number) => count <= 5)]);
  });

  it("whose tasks have thousands of new events do not let one of others wait for a look at all of them", async () => {
    let looks = 0;
    const { commit, sender, clock, answer, idsAt } = setUp({ maxConcurrent: 32 }, (store) => ({
      dueDeliveries(query) {
        looks += 1;
        return store.dueDeliveries(query);
      },
    }));
    const [network, hooks] = ["network 192.0.2.1", "https://hanging.example/hook"];
    answer(hooks, "hang");
    const hang = async (from: number, to: number) => {
      for (let task = from; task < to; task += 1) {
        const taskId = `hanging-${task}`;
        sender.noteCaller({ owner: alice, taskId, id: "hook" }, network);
        await commit(taskId, { pushConfigs: [createPushConfig(taskId, "hook", hooks)] }, network);
      }
    };
    await hang(0, 2_000);
    await clock.settle();
    looks = 0;
    await commit("task-1", { pushConfigs: [createPushConfig("task-1", "hook", a)] });
    await hang(2_000, 4_000);
    await clock.settle();
    expect([idsAt(a), looks]).toEqual([[1], expect.toSatisfy((count: number) => count <= 7)]);
  });

  describe("with thousands of webhooks that refuse at once", () => {
    /** Webhooks of one caller: it may take 28 of the 32 places, and 14 of the 16 at one origin. */
    async function startRefusing(urlOf: (task: number) => string, count = 2_000) {
      let looks = 0;
      const hooks = setUp({ maxConcurrent: 32 }, (store) => ({
        dueDeliveries(query) {
          looks += 1;
          return store.dueDeliveries(query);
        },
      }));
      const urls = Array.from({ length: count }, (_, task) => urlOf(task));
      for (const [task, url] of urls.entries()) {
        const taskId = `refusing-${task}`;
        hooks.answer(url, 401);
        hooks.sender.noteCaller({ owner: alice, taskId, id: "hook" }, "network 192.0.2.1");
        await hooks.start(taskId, url);
      }
      await hooks.clock.settle();
      return { ...hooks, urls, looks: () => looks };
    }

    for (const [name, urlOf, places] of [
      ["one origin", (task: number) => `${b}/${task}`, 14],
      ["many origins", (task: number) => `https://${task}.example/hook`, 28],
    ] as const) {
      it(`at ${name} cause no more requests in a second than the caller may have at a time`, async () => {
        const { clock, received } = await startRefusing(urlOf);
        expect(received).toHaveLength(places);
        for (let second = 1; second <= 20; second += 1) {
          await clock.advance(1_000);
          expect(received.length).toBeLessThanOrEqual(places * (second + 1));
        }
        expect(received.length).toBeGreaterThan(places * 15);
      });
    }

    it("let others have their events at once, and their attempts in time", async () => {
      const { start, clock, answer, idsAt } = await startRefusing((task) => `https://${task}.example/hook`);
      await clock.advance(5_000);
      await start("task-1", a, 20);
      await clock.settle();
      expect(idsAt(a)).toHaveLength(20);
      const flaky = "https://flaky.example/hook";
      answer(flaky, 500);
      await start("task-2", flaky);
      await clock.settle();
      for (const [delayMs, attempts] of [
        [999, 1],
        [51, 2],
        [1_900, 2],
        [150, 3],
      ] as const) {
        await clock.advance(delayMs);
        expect(idsAt(flaky)).toHaveLength(attempts);
      }
    });

    it("have all of their events as soon as they take them", async () => {
      const { clock, answer, urls, idsAt } = await startRefusing((task) => `${b}/${task}`, 200);
      await clock.advance(60_000);
      for (const url of urls) answer(url, 204);
      await clock.advance(64_000); // the longest delay of those that have failed six times
      expect(urls.map((url) => new Set(idsAt(url)))).toEqual(urls.map(() => new Set([1])));
      const counts = urls.map((url) => idsAt(url).length);
      await clock.advance(3_600_000);
      expect(urls.map((url) => idsAt(url).length)).toEqual(counts);
    });

    it("are not looked at again for each event of others", async () => {
      const { start, clock, idsAt, looks } = await startRefusing((task) => `https://${task}.example/hook`);
      await clock.advance(1_000);
      const before = looks();
      await start("task-1", a, 100);
      await clock.settle();
      expect(idsAt(a)).toHaveLength(100);
      expect(looks() - before).toBeLessThanOrEqual(2);
    });
  });

  it("whose webhooks hang again and again do not keep those of others from being tried again", async () => {
    const { start, sender, clock, answer, idsAt } = setUp({ maxConcurrent: 32 });
    for (let task = 1; task <= 500; task += 1) {
      const url = `https://${task}.example/hook`;
      const taskId = `hanging-${task}`;
      answer(url, "hang");
      sender.noteCaller({ owner: alice, taskId, id: "hook" }, "network 192.0.2.1");
      await start(taskId, url);
    }
    await clock.advance(900_000); // each has failed, and most are overdue
    answer(a, 500);
    await start("task-1", a);
    await clock.settle();
    answer(a, 200);
    await clock.advance(2_000);
    expect(idsAt(a)).toEqual([1, 1]);
  });
});

describe("large notifications", () => {
  /** Tasks with one event each and a webhook that hangs; small ones have another URL. */
  async function startHanging(maxConcurrentBytes: number, text: string) {
    let reads = 0;
    const hooks = setUp({ maxConcurrentBytes }, (store) => ({
      events(...args) {
        reads += 1;
        return store.events(...args);
      },
    }));
    hooks.answer(a, "hang");
    hooks.answer(b, "hang");
    for (let task = 1; task <= 20; task += 1) {
      const taskId = `task-${task}`;
      await hooks.commit(taskId, { text, pushConfigs: [createPushConfig(taskId, "hook", a)] });
    }
    return { ...hooks, reads: () => reads };
  }

  it("are not made while those under way have as many bytes as the option allows; small ones are", async () => {
    const { until, start, clock, received, reads, idsAt } = await startHanging(
      2.5 * 2 ** 20,
      "x".repeat(2 ** 20),
    );
    await until(3);
    await start("small", b);
    await until(4);
    await clock.settle();
    expect([idsAt(a), idsAt(b)]).toEqual([[1, 1, 1], [1]]);
    expect(reads()).toBe(4);
    await clock.advance(15_000); // the others have their turn
    await until(7);
    expect(received.slice(4).map(({ url }) => url)).toEqual([a, a, a]);
  });

  it("count as what they are, which may be more than their events, and are not taken for failed", async () => {
    const { until, start, clock, reads, log, idsAt } = await startHanging(
      4 * 2 ** 20,
      "\u0001".repeat(2 ** 19),
    );
    await until(2); // each has 3 MiB
    await start("small", b);
    await until(3);
    await clock.settle();
    expect([idsAt(a), idsAt(b)]).toEqual([[1, 1], [1]]);
    expect(reads()).toBe(3);
    expect(log).toEqual([]);
  });

  it("are made for one caller while those of another take long", async () => {
    const hooks = setUp({}, (store) => ({
      events: (owner, taskId, ...rest) =>
        taskId === "theirs" ? store.events(owner, taskId, ...rest) : new Promise(() => {}),
    }));
    const text = "x".repeat(2 ** 15);
    for (const taskId of ["task-1", "task-2", "theirs"]) {
      const pushConfigs = [createPushConfig(taskId, "hook", taskId === "theirs" ? b : a)];
      if (taskId !== "theirs")
        hooks.sender.noteCaller({ owner: alice, taskId, id: "hook" }, "network 192.0.2.1");
      await hooks.commit(taskId, { text, pushConfigs });
    }
    await hooks.clock.settle();
    expect(hooks.idsAt(b)).toEqual([1]);
  });

  it("of whole tasks wait without work for those of their caller that hang, and those of others are made", async () => {
    let looks = 0;
    const hooks = setUp({ maxConcurrentBytes: 2 ** 15 }, (store) => ({
      dueDeliveries(query) {
        looks += 1;
        return store.dueDeliveries(query);
      },
    }));
    hooks.answer(a, "hang");
    for (const [taskId, text] of [
      ["large", "x".repeat(2 ** 15)],
      ["small", "x"],
      ["theirs", "x"],
    ] as const) {
      const config = createPushConfig(taskId, "hook", taskId === "theirs" ? b : a);
      config.$unknown = [{ no: 100_000, wireType: 0, data: Uint8Array.of(1) }]; // as the codec of 0.3 marks it
      if (taskId !== "theirs")
        hooks.sender.noteCaller({ owner: alice, taskId, id: "hook" }, "network 192.0.2.1");
      await hooks.commit(taskId, { text, pushConfigs: [config] });
      await hooks.clock.settle();
    }
    expect([hooks.idsAt(a), hooks.idsAt(b)]).toEqual([[1], [1]]);
    looks = 0;
    await hooks.clock.advance(10_000);
    expect(looks).toBeLessThan(5);
    await hooks.clock.advance(5_000); // the first is given up
    expect(hooks.idsAt(a)).toEqual([1, 1]);
  });

  it.each([
    ["the artifacts of one that takes little memory", 100, [{ artifactId: "a" }]],
    ["none of one that takes much, although its JSON is short", 5_000, undefined],
  ])("of whole tasks have %s", async (_, values, artifacts) => {
    const data = fromJson(ValueSchema, Array(values).fill(null));
    const artifact = { artifactId: "a", parts: [{ content: { case: "data" as const, value: data } }] };
    const event = { case: "artifactUpdate" as const, value: { taskId: "task-1", artifact } };
    const payload = toBinary(StreamResponseSchema, create(StreamResponseSchema, { payload: event }));
    const hooks = setUp({ maxConcurrentBytes: 2 ** 16 }, (store) => ({
      commit(commit) {
        const entries = commit.entries.map((entry) =>
          entry.kind === "artifact" ? { ...entry, payload } : entry,
        );
        return store.commit({ ...commit, entries });
      },
    }));
    const config = createPushConfig("task-1", "hook", a);
    config.$unknown = [{ no: 100_000, wireType: 0, data: Uint8Array.of(1) }]; // as the codec of 0.3 marks it
    await hooks.commit("task-1", { kinds: ["task", "artifact"], pushConfigs: [config] });
    await hooks.clock.settle();
    expect(hooks.idsAt(a)).toEqual([2]);
    expect(hooks.log).toEqual([]);
    const task = JSON.parse(hooks.received[0]?.body ?? "");
    expect(task).toMatchObject({ id: "task-1", status: { state: "submitted" } });
    expect(task.artifacts?.map(({ artifactId }: { artifactId: string }) => ({ artifactId }))).toEqual(
      artifacts,
    );
  });

  it("are each made, however large, one after the other", async () => {
    const { until, clock, received, reads } = await startHanging(1, "x".repeat(2 ** 20));
    for (let count = 1; count <= 5; count += 1) {
      await until(count);
      expect([received.length, reads()]).toEqual([count, count]);
      await clock.advance(15_000);
    }
  });
});

describe("a config that is removed or replaced", () => {
  it("gets no request any more, and the one under way is given up (A-56)", async () => {
    const { start, remove, commit, clock, answer, received } = setUp();
    answer(a, "hang");
    await start("task-1", a, 2);
    await clock.settle();
    await remove("task-1");
    expect(received[0]?.signal.aborted).toBe(true);
    await commit("task-1");
    await clock.advance(3_600_000);
    expect(received).toHaveLength(1);
    expect(clock.alarms).toBe(0);
  });

  it("gets none either when it goes while the store is being asked (A-56)", async () => {
    const gate = Promise.withResolvers<void>();
    const { start, remove, clock, received } = setUp({}, (store) => ({
      async dueDeliveries(query) {
        const due = await store.dueDeliveries(query);
        await gate.promise;
        return due;
      },
    }));
    await start("task-1", a, 2);
    await clock.settle();
    await remove("task-1");
    gate.resolve();
    await clock.settle();
    expect(received).toEqual([]);
  });

  it("goes on under its new address with the event that it was at (A-53)", async () => {
    const { start, put, clock, answer, idsAt } = setUp();
    answer(a, "hang");
    await start("task-1", a, 3);
    await clock.settle();
    await put("task-1", b);
    await clock.advance(3_600_000);
    expect([idsAt(a), idsAt(b)]).toEqual([[1], [1, 2, 3]]);
  });
});

describe("a store that fails", () => {
  it("is asked again a second later", async () => {
    let failing = true;
    const { start, clock, log, idsAt } = setUp({}, (store) => ({
      dueDeliveries: (query) => (failing ? Promise.reject(new Error("disk")) : store.dueDeliveries(query)),
    }));
    await start("task-1", a);
    await clock.settle();
    failing = false;
    await clock.advance(999);
    expect(idsAt(a)).toEqual([]);
    await clock.advance(1);
    expect(idsAt(a)).toEqual([1]);
    expect(log.map(({ level }) => level)).toEqual(["error"]);
  });

  it("does not make the webhook get the same event over and over", async () => {
    let failing = true;
    const { start, clock, idsAt } = setUp({}, (store) => ({
      moveDelivery: (move) => (failing ? Promise.reject(new Error("read-only")) : store.moveDelivery(move)),
    }));
    await start("task-1", a, 2);
    await clock.advance(60_000);
    expect(idsAt(a)).toEqual([1]);
    failing = false;
    await clock.advance(1_000);
    expect(idsAt(a)).toEqual([1, 2]);
  });

  it("leaves nothing behind at the request, however long it fails", async () => {
    let failing = true;
    const { start, clock } = setUp({}, (store) => ({
      moveDelivery: (move) => (failing ? Promise.reject(new Error("read-only")) : store.moveDelivery(move)),
    }));
    const added = vi.spyOn(AbortSignal.prototype, "addEventListener");
    const removed = vi.spyOn(AbortSignal.prototype, "removeEventListener");
    onTestFinished(() => {
      added.mockRestore();
      removed.mockRestore();
    });
    await start("task-1", a);
    await clock.advance(60_000);
    expect(added.mock.calls.length).toBeGreaterThanOrEqual(60);
    expect(added.mock.calls.length - removed.mock.calls.length).toBeLessThanOrEqual(2);
    failing = false;
  });

  it("that cannot give the event is asked for it again later", async () => {
    let failing = true;
    const { start, clock, idsAt } = setUp({}, (store) => ({
      events: (...args) => (failing ? Promise.reject(new Error("disk")) : store.events(...args)),
    }));
    await start("task-1", a);
    await clock.settle();
    failing = false;
    await clock.advance(1_000);
    expect(idsAt(a)).toEqual([1]);
  });
});

describe("closing", () => {
  it("waits for requests under way, begins none, and what was taken is not sent again", async () => {
    const { start, sender, create, clock, answer, idsAt } = setUp();
    const reply = Promise.withResolvers<Response>();
    answer(a, () => reply.promise);
    await start("task-1", a, 2);
    await clock.settle();
    const closed = sender.close(1_000);
    reply.resolve(new Response());
    await closed;
    await clock.advance(60_000);
    expect(idsAt(a)).toEqual([1]);
    expect(clock.alarms).toBe(0);
    answer(a, 200);
    create().wake();
    await clock.settle();
    expect(idsAt(a)).toEqual([1, 2]);
  });

  for (const graceMs of [0, 1_000]) {
    it(`gives up after ${graceMs} ms, and the event is sent again after the next start`, async () => {
      const { start, sender, create, clock, answer, received, idsAt } = setUp();
      answer(a, "hang");
      await start("task-1", a, 2);
      await clock.settle();
      const closed = sender.close(graceMs);
      await clock.advance(graceMs);
      await closed;
      expect(received[0]?.signal.aborted).toBe(true);
      answer(a, 200);
      create().wake();
      await clock.settle();
      expect(idsAt(a)).toEqual([1, 1, 2]);
    });
  }

  it("does not wait for a store that fails", async () => {
    const { start, sender, clock } = setUp({}, () => ({
      moveDelivery: () => Promise.reject(new Error("read-only")),
    }));
    await start("task-1", a);
    await clock.settle();
    await sender.close(0);
    expect(clock.alarms).toBe(0);
  });
});

describe("options that make no sense", () => {
  for (const options of [
    { timeoutMs: 0 },
    { maxConcurrent: 0 },
    { maxConcurrent: Number.NaN },
    { maxConcurrentBytes: 0 },
    { maxConfigsPerTask: 0 },
    { retry: { initialMs: 0 } },
    { retry: { factor: 0.5 } },
    { retry: { initialMs: 10, maxMs: 5 } },
  ]) {
    it(`are refused: ${JSON.stringify(options)}`, () => {
      expect(() => setUp(options)).toThrow(/^push\./);
    });
  }
});
