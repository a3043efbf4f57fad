import { StreamResponseSchema } from "@a2a-connect/proto";
import { alice, createPushConfig } from "@a2a-connect/testing";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createPushSender } from "../../test-support/push-senders.ts";

const a = "https://a.example/hook?key=url-secret";
const b = "https://b.example/hook";

describe("many webhooks", () => {
  it("take turns, however many events wait behind one of them", async () => {
    const { start, clock, received } = createPushSender({ maxConcurrent: 1 });
    await start("task-1", a, 1_000);
    await start("task-2", b, 2);
    await clock.settle();
    expect(received).toHaveLength(1_002);
    expect(received.slice(0, 5).filter(({ url }) => url === b)).toHaveLength(2);
  });

  it("are told by as many requests at a time as the option allows", async () => {
    const { start, clock, received, answer } = createPushSender({ maxConcurrent: 4 });
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
    const { start, clock, received } = createPushSender({ maxConcurrent: 1 });
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
    const { start, clock, answer, received, idsAt } = createPushSender({
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
    const { start, clock, answer, idsAt, received } = createPushSender({ maxConcurrent: 4 });
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
    const { start, clock, answer, idsAt } = createPushSender({ maxConcurrent: 4 });
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
    const hooks = createPushSender({ maxConcurrent: 32 }, (store) => ({
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
    const { commit, sender, clock, answer, idsAt } = createPushSender({ maxConcurrent: 32 }, (store) => ({
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
      const hooks = createPushSender({ maxConcurrent: 32 }, (store) => ({
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
    const { start, sender, clock, answer, idsAt } = createPushSender({ maxConcurrent: 32 });
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
    const hooks = createPushSender({ maxConcurrentBytes }, (store) => ({
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
    const hooks = createPushSender({}, (store) => ({
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
    const hooks = createPushSender({ maxConcurrentBytes: 2 ** 15 }, (store) => ({
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
    const hooks = createPushSender({ maxConcurrentBytes: 2 ** 16 }, (store) => ({
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
