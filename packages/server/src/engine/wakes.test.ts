import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { Wakes } from "./wakes.ts";

function createWakes(maxInATurn: number) {
  let end = (): void => {};
  const turnOfTheTest = () =>
    new Promise<void>((resolve) => {
      end = resolve;
    });
  const wakes = new Wakes({ nextTurn: turnOfTheTest }, maxInATurn);
  const endTurn = async (): Promise<void> => {
    end();
    await nextTurn();
  };
  return { wakes, endTurn };
}

it("few are woken in a turn of the event loop, of all events together, in order", async () => {
  const { wakes, endTurn } = createWakes(256);
  const woken: number[] = [];
  for (let event = 0; event < 10; event += 1) {
    wakes.wake(Array.from({ length: 200 }, (_, at) => () => void woken.push(200 * event + at)));
  }
  for (let turn = 1; woken.length < 2_000; turn += 1) {
    expect(woken).toHaveLength(256 * turn);
    await endTurn();
  }
  expect(woken).toEqual(Array.from({ length: 2_000 }, (_, at) => at));
});

it("a caller does not wait until all of another one are woken", async () => {
  const { wakes, endTurn } = createWakes(2);
  const woken: string[] = [];
  const sleep = (name: string) => () => void woken.push(name);
  wakes.wake(
    Array.from({ length: 10 }, () => sleep("many")),
    "many",
  );
  wakes.wake([sleep("few"), sleep("few")], "few");
  expect(woken).toEqual(["many", "many"]);
  await endTurn();
  await endTurn();
  expect(woken.slice(2)).toEqual(["many", "few", "many", "few"]);
});

it("one that is not waiting is woken at once", async () => {
  const { wakes, endTurn } = createWakes(1);
  await wakes.turn("one");
  const later = wakes.turn("one");
  await endTurn();
  await expect(later).resolves.toBeUndefined();
});
