import { setImmediate as nextTurn } from "node:timers/promises";
import { type Task, TaskState } from "@a2a-connect/proto";
import { createTurnCount, reasonOf, say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { beginDurable, createDurableServers, type Process } from "../../../test-support/durable-servers.ts";
import { beginLongWork } from "../../../test-support/long-work.ts";
import { detached, sendTask } from "../../../test-support/tasks.ts";
import { defaultEngineLimits } from "../engine-context.ts";

describe("large results of many tasks at the same moment", () => {
  const many = 2_000;
  /** A part of a large result, which takes as long to store as several slices of long work have in one turn. */
  const slowPart = (stored: () => void) => ({
    get name() {
      stored();
      for (const until = performance.now() + 11; performance.now() < until; );
      return "read";
    },
  });

  for (const [what, makeValue] of [
    ["lists", (each: object) => [...Array(many).keys(), each]],
    ["objects", (each: object) => ({ ...Array.from({ length: many }, (_, index) => ({ index })), each })],
    ["maps", (each: object) => new Map<unknown, unknown>([...Array(many).entries(), ["each", each]])],
    ["sets", (each: object) => new Set<unknown>([...Array(many).keys(), each])],
    ["long texts", (each: object) => ["x".repeat(100_000), each]],
    ["bytes", (each: object) => [new Uint8Array(100_000), each]],
  ] as const) {
    it(`are stored in turns of their own: ${what}`, async () => {
      const encodings = createTurnCount();
      const { open } = createDurableServers(async function* (task) {
        await task.step("make", () => makeValue(slowPart(encodings.count)) as unknown);
        yield task.working("done");
      });
      const { client } = await open();
      await Promise.all(Array.from({ length: 10 }, () => sendTask(client)));
      expect([encodings.total, encodings.mostInATurn]).toEqual([10, 1]);
    });
  }

  it("keep further steps of their caller waiting, so that few of them are in memory", async () => {
    let inMemory = 0;
    let most = 0;
    const large = () => {
      inMemory += 1;
      most = Math.max(most, inMemory);
      return [
        ...Array(many).keys(),
        slowPart(() => {
          inMemory -= 1;
        }),
      ];
    };
    const { open } = createDurableServers(async function* (task) {
      await task.step("make", large);
      await task.step("make", large);
      yield task.working("done");
    });
    const { client } = await open();
    const ended: Promise<unknown>[] = [];
    for (let begun = 0; begun < 40; begun += 1) {
      ended.push(sendTask(client));
      await nextTurn();
    }
    await Promise.all(ended);
    expect(inMemory).toBe(0);
    expect(most).toBeLessThan(12);
  });

  for (const [what, stop] of [
    [
      "its task is canceled",
      ({ client }, ids) => Promise.all(ids.map((id) => client.cancelTask({ id }).catch(() => {}))),
    ],
    ["the server closes", ({ server, clock }) => Promise.all([server.close(), clock.advance(1)])],
  ] as const satisfies [string, (process: Process, ids: string[]) => Promise<unknown>][]) {
    it(`keep a step waiting, which does not begin when ${what} meanwhile`, async () => {
      let begun = 0;
      let late = 0;
      const servers = createDurableServers(async function* (task) {
        await task.step("make", ({ signal }) => {
          begun += 1;
          if (signal.aborted) late += 1;
          return [...Array(many).keys(), slowPart(() => {})];
        });
        yield task.working("done");
      });
      const process = await servers.open();
      const ids: string[] = [];
      for (let sent = 0; sent < 30; sent += 1) ids.push((await sendTask(process.client, detached())).id);
      const before = begun;
      await stop(process, ids);
      for (let turn = 0; turn < 400; turn += 1) await nextTurn();
      expect(before).toBeLessThan(ids.length);
      expect(begun).toBeLessThan(ids.length);
      expect(late).toBe(0);
      await beginLongWork(undefined, ids.length).over; // after theirs, for which steps of the next tests would wait
    });
  }
});

describe("thousands of steps side by side", () => {
  const many = 3_000;

  it("begin in several turns, and give their results to the executor in their order", async () => {
    const begins = createTurnCount();
    let results: number[] = [];
    await beginDurable(async function* (task) {
      const steps = Array.from({ length: many }, (_, index) =>
        task.step("look up", () => {
          begins.count();
          return index;
        }),
      );
      results = await Promise.all(steps);
      yield* task.ask("More?");
    });
    expect(results).toEqual([...Array(many).keys()]);
    expect(begins.total).toBe(many);
    expect(begins.mostInATurn).toBeLessThan(many / 2);
  });

  it("are more than a task may have under way: it FAILS and says so", async () => {
    const limits = { ...defaultEngineLimits, maxTaskBytes: 2 * 10 * 4096 };
    const servers = createDurableServers(
      async function* (task) {
        const count = Number(task.text);
        for (let round = 0; round < 5; round += 1) {
          await Promise.all(Array.from({ length: count }, () => task.step("look up", () => nextTurn())));
        }
        yield task.complete("done");
      },
      { limits },
    );
    const { client, log } = await servers.open();
    const ended = [await sendTask(client, say("10")), await sendTask(client, say("11"))];
    const words = ended.map(({ status }) => status?.message?.parts[0]?.content.value);
    expect(ended.map(({ status }) => status?.state)).toEqual([TaskState.COMPLETED, TaskState.FAILED]);
    expect(words).toEqual([
      "done",
      "the executor has 10 steps, sleeps and takes of the inbox under way; no task may have more at a time: begin some of them when others are over",
    ]);
    expect(log.map(({ message }) => message)).toEqual(["an executor failed"]);
  });

  it("of all tasks of a caller have a limit together; an executor that has few goes on", async () => {
    const limits = { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20 }; // 256 of 4 KiB
    let begun = 0;
    const loaded = Promise.withResolvers<void>();
    const found = Promise.withResolvers<void>();
    const { open, clock } = createDurableServers(
      async function* (task) {
        await task.step("load", () => loaded.promise);
        const look = () => {
          begun += 1;
          return task.step("look up", () => found.promise);
        };
        await Promise.all(Array.from({ length: task.text === "few" ? 3 : 100 }, look));
        yield task.complete("done");
      },
      { limits },
    );
    const { client } = await open();
    const sent: Task[] = [];
    for (const text of [...Array<string>(10).fill("many"), "few"]) {
      sent.push(await sendTask(client, detached(text)));
    }
    loaded.resolve(); // in the same turn
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    found.resolve();
    await clock.settle();
    const ended = await Promise.all(sent.map(({ id }) => client.getTask({ id })));
    const reasons = ended.map((task) => reasonOf(task) ?? "done");
    expect(reasons.slice(0, 10).filter((reason) => reason === "capacity").length).toBeGreaterThan(5);
    expect([reasons.at(0), reasons.at(-1)]).toEqual(["done", "done"]);
    expect(begun).toBeLessThan(256 + 11 * 65);
    expect((await sendTask(client, say("many"))).status?.state).toBe(TaskState.COMPLETED); // nothing of them is under way
  });

  it("of code that ignores its signal count until it returns", async () => {
    const limits = { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20 }; // 256 of 4 KiB
    const found = Promise.withResolvers<void>();
    const { open, clock } = createDurableServers(
      async function* (task) {
        await Promise.all(Array.from({ length: 200 }, () => task.step("look up", () => found.promise)));
        yield task.complete("done");
      },
      { limits },
    );
    const { client } = await open();
    const { id } = await sendTask(client, detached());
    const cancel = client.cancelTask({ id });
    await clock.advance(10_000);
    await cancel;
    expect(reasonOf(await sendTask(client))).toBe("capacity");
    found.resolve();
    await clock.settle();
    expect((await sendTask(client)).status?.state).toBe(TaskState.COMPLETED);
  });
});
