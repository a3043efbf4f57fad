import { setImmediate as nextTurn } from "node:timers/promises";
import { type Task, TaskState } from "@a2a-connect/proto";
import { reasonOf, say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { beginDurable, createDurableServers, type Process } from "../../../test-support/durable-servers.ts";
import { createHeldStore } from "../../../test-support/held-store.ts";
import { detached, sendTask } from "../../../test-support/tasks.ts";
import { defaultEngineLimits } from "../engine-context.ts";

describe("steps beside the end of their task", () => {
  const limits = { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20 }; // 256 of 4 KiB

  for (const [how, end] of [
    ["an error of its code", async () => {}],
    [
      "the cancel of a question",
      async ({ client }: Process, id: string) => void (await client.cancelTask({ id })),
    ],
  ] as const) {
    it(`count until they are over, and those that have not begun never do: ${how}`, async () => {
      const found = Promise.withResolvers<void>();
      let begun = 0;
      const { open, clock } = createDurableServers(
        async function* (task) {
          const look = (item: number) =>
            task.step("look up", () => {
              begun += 1;
              if (how === "an error of its code" && item === 0) throw new Error("there is no such item");
              return found.promise;
            });
          const all = Promise.all(Array.from({ length: 200 }, (_, item) => look(item)));
          if (how === "an error of its code" || task.text === "all") return void (await all);
          yield* task.ask("In which format?");
        },
        { limits },
      );
      const process = await open();
      const first = await sendTask(process.client, detached());
      await clock.settle();
      await end(process, first.id);
      const others: Task[] = [];
      for (let sent = 0; sent < 5; sent += 1) others.push(await sendTask(process.client, say("all")));
      await clock.settle();
      const beganBefore = begun;
      expect(others.map(reasonOf)).toEqual(Array(5).fill("capacity"));
      expect(begun).toBeLessThanOrEqual(200 + 5);
      found.resolve();
      await clock.settle();
      expect(begun).toBe(beganBefore);
      expect(reasonOf(await sendTask(process.client, detached()))).toBeUndefined();
    });
  }

  it("a step of a `finally` behind the event that ends the task still runs", async () => {
    const cleaned: string[] = [];
    const { process, id, clock } = await beginDurable(async function* (task) {
      try {
        yield task.complete("done");
      } finally {
        await task.step("clean up", () => cleaned.push("up"));
      }
    });
    await clock.settle();
    expect((await process.client.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
    expect(cleaned).toEqual(["up"]);
  });

  it("steps of such a `finally` are no more at a time than others", async () => {
    let [begun, refused] = [0, 0];
    const { clock } = await beginDurable(
      async function* (task) {
        try {
          yield task.complete("done");
        } finally {
          for (let item = 0; item < 100; item += 1) {
            try {
              void task.step("clean up", () => {
                begun += 1;
              });
            } catch {
              refused += 1;
            }
          }
        }
      },
      { limits: { ...defaultEngineLimits, maxTaskBytes: 2 * 10 * 4096 } },
    );
    await clock.settle();
    expect([begun, refused]).toEqual([10, 90]);
  });

  it("steps of such a `finally` count for their caller until they are over", async () => {
    const released = Promise.withResolvers<void>();
    let refused = 0;
    const { open, clock } = createDurableServers(
      async function* (task) {
        try {
          yield task.complete("done");
        } finally {
          for (let item = 0; item < 100; item += 1) {
            try {
              void task.step("release", () => released.promise);
            } catch {
              refused += 1;
            }
          }
        }
      },
      { limits }, // of all tasks
    );
    const { client } = await open();
    for (let sent = 0; sent < 4; sent += 1) await sendTask(client, detached());
    await clock.settle();
    expect(refused).toBe(2 * (100 - 64)); // so many each may have in any case
    released.resolve();
    await clock.settle();
    refused = 0;
    await sendTask(client, detached());
    await clock.settle();
    expect(refused).toBe(0);
  });

  it("what the code of such a `finally` has of its task counts as long as its steps are under way", async () => {
    const released = Promise.withResolvers<void>();
    const { open, clock } = createDurableServers(
      async function* (task) {
        try {
          yield task.complete("done");
        } finally {
          await task.step("release", () => released.promise);
        }
      },
      { limits }, // 2 MiB of all tasks
    );
    const { client } = await open();
    const send = () => sendTask(client, say("x".repeat(300 * 1024)));
    const sendMany = () => Promise.allSettled(Array.from({ length: 20 }, send));
    const isTaken = ({ status }: PromiseSettledResult<Task>) => status === "fulfilled";
    expect((await sendMany()).filter(isTaken).length).toBeLessThan(10);
    await clock.settle();
    expect((await sendMany()).filter(isTaken)).toEqual([]);
    released.resolve();
    await clock.settle();
    expect((await sendMany()).some(isTaken)).toBe(true);
  });

  it("a commit that fails while their results wait loses the task, and nothing else", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on("unhandledRejection", note);
    const store = createHeldStore();
    const found = Promise.withResolvers<void>();
    const { open, clock } = createDurableServers(
      async function* (task) {
        const look = async () => {
          await found.promise;
          for (let turn = 0; turn < 3; turn += 1) await nextTurn();
        };
        await Promise.all(Array.from({ length: 300 }, () => task.step("look up", look)));
        yield task.complete("done");
      },
      { store },
    );
    const { client } = await open();
    const { id } = await sendTask(client, detached());
    await clock.settle();
    store.hold();
    found.resolve();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    store.decide(() => new Error("the disk is full"));
    store.release();
    await clock.settle();
    store.decide(() => "write");
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
    await clock.advance(60_000); // it is taken up again
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
  });

  it("leaves no alarm behind when the end comes while the next result waits for its turn", async () => {
    const failed = Promise.withResolvers<void>();
    const { open, clock } = createDurableServers(async function* (task) {
      const look = (item: number) =>
        task.step("look up", async () => {
          await failed.promise;
          if (item === 0) throw new Error("there is no such item");
        });
      await Promise.all([0, 1, 2, 3].map(look));
    });
    const { client } = await open();
    const before = clock.alarms;
    for (let sent = 0; sent < 100; sent += 1) await sendTask(client, detached());
    failed.resolve();
    await clock.settle();
    expect(clock.alarms).toBe(before);
  });
});
