import { setImmediate as nextTurn } from "node:timers/promises";
import { setAccepting } from "@a2a-connect/core/internal";
import { expect, it } from "vitest";
import { createReadQueue, type ReadQueue } from "./read-queue.ts";

it("reads in a turn until the limit is exceeded, and the rest in the next turns, in order", async () => {
  const queue = createReadQueue((query) => query(), 100);
  const { turnOf, all } = readAll(queue, [60, 60, 10, 90, 1, 500, 1]);
  await all;
  expect(turnOf).toEqual([0, 0, 1, 1, 1, 2, 3]);
});

it("reads one in a turn when the limit is 0", async () => {
  const queue = createReadQueue((query) => query(), 0);
  const { turnOf, all } = readAll(queue, [1, 1, 1]);
  await all;
  expect(turnOf).toEqual([0, 1, 2]);
});

it("reads at once in a later turn, when nobody waits", async () => {
  const queue = createReadQueue((query) => query(), 0);
  const first = readAll(queue, [1]);
  await first.all;
  await nextTurn();
  await nextTurn();
  const second = readAll(queue, [1]);
  await second.all;
  expect(second.turnOf).toEqual([0]);
});

it("goes on after a read that failed", async () => {
  const queue = createReadQueue((query) => query(), 0);
  const fails = queue(
    () => {
      throw new Error("damaged");
    },
    () => 1,
  );
  const follows = queue(
    () => "read",
    () => 1,
  );
  await expect(fails).rejects.toThrow("damaged");
  expect(await follows).toBe("read");
});

/** Reads so many bytes each, all asked for now; `turnOf` says how many turns each has waited. */
function readAll(queue: ReadQueue, sizes: readonly number[]) {
  let turn = 0;
  let counting = true;
  const count = async (): Promise<void> => {
    for (; counting; turn += 1) await nextTurn();
  };
  void count(); // before the first read: turns end in the order in which their ends were asked for
  const turnOf: number[] = [];
  const reads = sizes.map((size) =>
    queue(
      () => turnOf.push(turn),
      () => size,
    ),
  );
  const all = Promise.all(reads).finally(() => {
    counting = false;
  });
  return { turnOf, all };
}

it("lets those that wait read in no turn for new connections alone", async () => {
  const queue = createReadQueue((query) => query(), 0);
  const { turnOf, all } = readAll(queue, [1, 1]);
  const port = {};
  setAccepting(port, true);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  setAccepting(port, false);
  await all;
  expect(turnOf[1]).toBeGreaterThan(4);
});
