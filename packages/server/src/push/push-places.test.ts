import {
  alice,
  createCommit,
  createFakeClock,
  createPushConfig,
  createTurnCount,
} from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { createFakeWebhooks } from "../../test-support/fake-webhooks.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { Delivery, TaskStore } from "../store/task-store.ts";
import { createPushPlacesFor, PushPlaces } from "./push-places.ts";
import { PushSender } from "./push-sender.ts";

const ok = "https://ok.example/hook";

/** Senders of as many agents of one host, each over a store of its own. */
function setUp(
  { agents = 12, maxConcurrent = 32 } = {},
  wrap: (store: TaskStore, agent: number) => Partial<TaskStore> = () => ({}),
) {
  const clock = createFakeClock();
  const webhooks = createFakeWebhooks();
  const log: LogRecord[] = [];
  const looks = createTurnCount();
  const looked: number[] = [];
  const placesFor = createPushPlacesFor(clock);
  const all = Array.from({ length: agents }, (_, agent) => {
    const memory = createMemoryTaskStore();
    const counted: TaskStore = {
      ...memory,
      dueDeliveries(query) {
        looks.count();
        looked.push(agent);
        return memory.dueDeliveries(query);
      },
    };
    const store = { ...counted, ...wrap(counted, agent) };
    const sender = new PushSender(
      {
        store,
        clock,
        limits: { maxShare: 7 / 8 },
        nameOwner: ({ principal }) => `principal ${principal}`,
        log: (record) => log.push(record),
        random: () => 1,
        placesFor,
      },
      { fetch: webhooks.fetch, maxConcurrent },
    );
    /** Stores a task with webhooks of a caller, of which no sender knows yet. */
    const add = async (taskId: string, urls: readonly string[], share: string) => {
      const pushConfigs = urls.map((url, at) => createPushConfig(taskId, `hook-${at}`, url));
      for (const { id } of pushConfigs) sender.noteCaller({ owner: alice, taskId, id }, share);
      await store.commit(createCommit({ taskId, pushConfigs }));
    };
    return { sender, add };
  });
  return { ...webhooks, clock, log, looks, looked, all };
}

function hangingUrls(count: number, name = "hanging"): string[] {
  return Array.from({ length: count }, (_, at) => `https://${name}-${at}.example/hook`);
}

describe("senders that share places", () => {
  it("look one at a time, one in a turn of the event loop", async () => {
    const { all, clock, looks, idsAt } = setUp();
    for (const [agent, { add }] of all.entries()) await add("task-1", [`${ok}/${agent}`], `network ${agent}`);
    for (const { sender } of all) sender.wake();
    await clock.settle();
    expect(all.map((_, agent) => idsAt(`${ok}/${agent}`))).toEqual(all.map(() => [1]));
    expect(looks.total).toBeGreaterThanOrEqual(all.length);
    expect(looks.mostInATurn).toBe(1);
  });

  it("look in turn, and only as many as there are free places", async () => {
    const { all, clock, looked, answer, idsAt } = setUp({ maxConcurrent: 8 });
    const replies = Array.from({ length: 8 }, () => Promise.withResolvers<Response>());
    for (const [at, { promise }] of replies.entries()) {
      const url = `https://slow-${at}.example/hook`;
      answer(url, () => promise);
      await all[0]?.add(`task-${at}`, [url], `network slow-${at}`);
    }
    all[0]?.sender.wake();
    await clock.settle();
    const others = all.slice(1);
    for (const [at, { add, sender }] of others.entries()) {
      answer(`https://other-${at}.example/hook`, "hang");
      await add("task-1", [`https://other-${at}.example/hook`], `network ${at}`);
      sender.wake();
    }
    await clock.settle();
    looked.length = 0;
    replies[0]?.resolve(new Response());
    await clock.settle();
    expect(looked).toEqual([0, 1]); // the first has waited longest, and has nothing more
    replies[1]?.resolve(new Response());
    replies[2]?.resolve(new Response());
    await clock.settle();
    expect(looked.filter((agent) => agent > 0)).toEqual([1, 2, 3]);
    expect(others.map((_, at) => idsAt(`https://other-${at}.example/hook`).length)).toEqual(
      others.map((_, at) => (at < 3 ? 1 : 0)),
    );
  });

  it("pass on a place that they leave free", async () => {
    const { all, clock, answer, idsAt } = setUp({ agents: 4, maxConcurrent: 8 });
    const reply = Promise.withResolvers<Response>();
    const last = Promise.withResolvers<Response>();
    const [first, second, third, fourth] = all;
    const hanging = hangingUrls(20);
    for (const url of hanging) answer(url, "hang");
    await first?.add("hanging", hanging, "network hanging"); // seven of the eight places
    first?.sender.wake();
    answer(`${ok}/last`, () => last.promise);
    await fourth?.add("task-1", [`${ok}/last`], "network last");
    fourth?.sender.wake();
    await clock.settle();
    const more = hangingUrls(20, "more");
    await second?.add("more", more, "network hanging"); // has its share
    second?.sender.wake();
    answer(ok, () => reply.promise);
    await third?.add("task-1", [ok], "network honest");
    third?.sender.wake();
    await clock.settle();
    expect(idsAt(ok)).toEqual([]);
    last.resolve(new Response());
    await clock.settle();
    expect(idsAt(ok)).toEqual([1]);
    expect(more.flatMap(idsAt)).toEqual([]);
  });

  it("read few pages in which nothing can start, all of them together", async () => {
    const { all, clock, looks, answer, idsAt } = setUp({ agents: 24 });
    for (const [agent, { add, sender }] of all.entries()) {
      const urls = hangingUrls(200, `hanging-${agent}`);
      for (const url of urls) answer(url, "hang");
      await add("hanging", urls, "network hanging");
      sender.wake();
    }
    await clock.advance(1_000);
    const before = looks.total;
    for (let time = 0; time < 100; time += 1) {
      for (const { sender } of all) sender.wake();
      await clock.advance(10);
    }
    expect(looks.total - before).toBeLessThanOrEqual(51);
    const last = all.at(-1);
    await last?.add("task-1", [ok], "network honest");
    last?.sender.wake({ owner: alice, taskId: "task-1", share: "network honest" });
    await clock.settle();
    expect(idsAt(ok)).toEqual([1]); // a new event does not wait for a page
  });

  it("do not wait for one whose store fails or hangs, or that is closed", async () => {
    let failing = true;
    const hanging = Promise.withResolvers<never>();
    const { all, clock, log, idsAt } = setUp({ agents: 4 }, (store, agent) => ({
      dueDeliveries: (query) =>
        agent > 0
          ? store.dueDeliveries(query)
          : failing
            ? Promise.reject(new Error("disk"))
            : hanging.promise,
    }));
    const tell = async (taskId: string) => {
      for (const [agent, { add }] of all.entries())
        await add(taskId, [`${ok}/${taskId}-${agent}`], `network ${agent}`);
      for (const { sender } of all) sender.wake();
    };
    const told = (taskId: string) => all.map((_, agent) => idsAt(`${ok}/${taskId}-${agent}`).length);
    await tell("task-1");
    await clock.settle();
    expect(told("task-1")).toEqual([0, 1, 1, 1]);
    expect(log.map(({ message }) => message)).toEqual(["due notifications could not be read; trying again"]);
    failing = false;
    await tell("task-2");
    await clock.advance(100);
    expect(told("task-2")).toEqual([0, 1, 1, 1]);
    await tell("task-3");
    const closed = all[1]?.sender.close(0);
    await clock.advance(100);
    await closed;
    expect(told("task-3")).toEqual([0, 0, 1, 1]);
  });

  it("are told of free places also when eight others have stores that hang", async () => {
    const hanging = Promise.withResolvers<never>();
    let hangs = false;
    const { all, clock, answer, idsAt } = setUp({ agents: 10, maxConcurrent: 8 }, (store, agent) => ({
      dueDeliveries: (query) => (hangs && agent < 8 ? hanging.promise : store.dueDeliveries(query)),
    }));
    const replies = Array.from({ length: 20 }, () => Promise.withResolvers<Response>());
    for (const [at, { promise }] of replies.entries()) {
      answer(`https://busy-${at}.example/hook`, () => promise);
      await all[9]?.add(`task-${at}`, [`https://busy-${at}.example/hook`], `network busy-${at}`);
    }
    all[9]?.sender.wake();
    await clock.settle();
    hangs = true;
    for (const [agent, { add, sender }] of all.slice(0, 9).entries()) {
      await add("task-1", [`${ok}/${agent}`], `network ${agent}`);
      sender.wake();
    }
    await clock.settle();
    for (const { resolve } of replies.slice(0, 4)) {
      resolve(new Response());
      for (let at = 0; at < 20; at += 1) await clock.advance(50);
    }
    expect(idsAt(`${ok}/8`)).toEqual([1]);
  });
});

it("large notifications that have waited for others, and are made at once, take turns of the event loop", async () => {
  const clock = createFakeClock();
  const places = new PushPlaces(clock, { maxConcurrent: 32, maxConcurrentBytes: 2 ** 20, maxShare: 7 / 8 });
  const made = createTurnCount();
  const { signal } = new AbortController();
  const attempts = Array.from({ length: 100 }, (_, at) => ({
    delivery: {} as Delivery,
    share: `caller ${at}`,
    bytes: 1,
  }));
  await Promise.all(attempts.map((attempt) => places.makeInTurn(attempt, signal, async () => made.count())));
  expect(made.total).toBe(100);
  expect(made.mostInATurn).toBeLessThan(30);
});
