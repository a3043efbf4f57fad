import { createCommit, createPushConfig, createTurnCount } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createPushSender } from "../../test-support/push-senders.ts";

const a = "https://a.example/hook?key=url-secret";
const b = "https://b.example/hook";

describe("the sender", () => {
  it("tells a webhook of every event once, in order, from the task's creation on (A-14, N-1, N-4)", async () => {
    const { start, commit, clock, received, idsAt } = createPushSender();
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
    const { start } = createPushSender({
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
    const { commit, clock, answer, received, idsAt } = createPushSender({ retry });
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
    const { start, put, commit, clock, idsAt } = createPushSender();
    await start("task-1", a, 2);
    await put("task-1", b, "later");
    await clock.settle();
    await commit("task-1");
    await clock.settle();
    expect(idsAt(a)).toEqual([1, 2, 3]);
    expect(idsAt(b)).toEqual([3]);
  });

  it("takes what an earlier process left, and loses nothing with a wake-up", async () => {
    const { store, create, clock, idsAt } = createPushSender();
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
      const hooks = createPushSender();
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
    const { start, clock, received, log } = createPushSender();
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
    const { start, clock, answer, idsAt } = createPushSender();
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
    const { start, commit, clock, answer, received, idsAt } = createPushSender();
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
    const { start, clock, answer, idsAt } = createPushSender();
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
    const { start, clock, answer, log } = createPushSender();
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

describe("a config that is removed or replaced", () => {
  it("gets no request any more, and the one under way is given up (A-56)", async () => {
    const { start, remove, commit, clock, answer, received } = createPushSender();
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
    const { start, remove, clock, received } = createPushSender({}, (store) => ({
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
    const { start, put, clock, answer, idsAt } = createPushSender();
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
    const { start, clock, log, idsAt } = createPushSender({}, (store) => ({
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
    const { start, clock, idsAt } = createPushSender({}, (store) => ({
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
    const { start, clock } = createPushSender({}, (store) => ({
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
    const { start, clock, idsAt } = createPushSender({}, (store) => ({
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
    const { start, sender, create, clock, answer, idsAt } = createPushSender();
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
      const { start, sender, create, clock, answer, received, idsAt } = createPushSender();
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
    const { start, sender, clock } = createPushSender({}, () => ({
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
      expect(() => createPushSender(options)).toThrow(/^push\./);
    });
  }
});
