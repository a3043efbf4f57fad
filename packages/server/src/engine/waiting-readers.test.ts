import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { ReaderWakes } from "./waiting-readers.ts";

it("of the readers of all tasks together few are woken in a turn of the event loop, in order", async () => {
  let endTurn = (): void => {};
  const wakes = new ReaderWakes({
    nextTurn: () =>
      new Promise((resolve) => {
        endTurn = resolve;
      }),
  });
  const woken: number[] = [];
  for (let task = 0; task < 10; task += 1) {
    wakes.wake(Array.from({ length: 200 }, (_, at) => () => void woken.push(200 * task + at)));
  }
  for (let turn = 1; woken.length < 2_000; turn += 1) {
    expect(woken).toHaveLength(256 * turn);
    endTurn();
    await nextTurn();
  }
  expect(woken).toEqual(Array.from({ length: 2_000 }, (_, at) => at));
});
