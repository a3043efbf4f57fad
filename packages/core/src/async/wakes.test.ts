import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { setAccepting } from "./waiting.ts";
import { Wakes } from "./wakes.ts";

function createWakes(maxInATurn: number) {
  let end = (): void => {};
  const turnOfTheTest = () =>
    new Promise<void>((resolve) => {
      end = resolve;
    });
  let now = 0;
  const wakes = new Wakes({ nextTurn: turnOfTheTest, ticks: () => now }, maxInATurn);
  const pass = (ms: number): void => {
    now += ms;
  };
  const endTurn = async (): Promise<void> => {
    end();
    await nextTurn();
  };
  return { wakes, endTurn, pass };
}

it("few are woken in a turn of the event loop, of all events together, in order", async () => {
  const { wakes, endTurn } = createWakes(256);
  const woken: number[] = [];
  for (let event = 0; event < 10; event += 1) {
    wakes.wake(Array.from({ length: 200 }, (_, at) => () => void woken.push(200 * event + at)));
  }
  await nextTurn();
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
  expect(wakes.turn("one")).toBeUndefined();
  const later = wakes.turn("one");
  await endTurn();
  await expect(later).resolves.toBeUndefined();
});

it("none is woken in a turn for new connections alone", async () => {
  const { wakes, endTurn } = createWakes(2);
  const port = {};
  const woken: number[] = [];
  const sleepers = (...numbers: number[]) => numbers.map((number) => () => void woken.push(number));
  wakes.wake(sleepers(1, 2, 3));
  setAccepting(port, true);
  for (let turn = 0; turn < 3; turn += 1) {
    await endTurn();
    wakes.wake(sleepers(4 + turn));
  }
  expect(woken).toEqual([1, 2]);
  setAccepting(port, false);
  wakes.wake(sleepers(7));
  expect(woken).toEqual([1, 2]);
  for (let turn = 0; turn < 3; turn += 1) await endTurn();
  expect(woken).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

it("those that come in a turn for new connections alone are woken after it", async () => {
  const { wakes, endTurn } = createWakes(2);
  const port = {};
  setAccepting(port, true);
  const turn = wakes.turn("one");
  setAccepting(port, false);
  await endTurn();
  await expect(turn).resolves.toBeUndefined();
});

it("a turn that has become long wakes no more, and callers take turns", async () => {
  const { wakes, endTurn, pass } = createWakes(256);
  const gone: string[] = [];
  const work = async (share: string): Promise<void> => {
    const turn = wakes.turn(share);
    if (turn !== undefined) await turn;
    gone.push(share);
    pass(4);
  };
  for (let count = 0; count < 9; count += 1) void work("many");
  void work("few");
  expect(gone).toEqual(Array(3).fill("many")); // after 12 ms
  await endTurn();
  expect(gone.slice(3)).toEqual(["many", "few", "many"]);
  await endTurn();
  expect(gone).toHaveLength(9);
});

it("those that have waited for the same do not all go on in a turn that the first of them make long", async () => {
  for (const how of ["turn", "wake"] as const) {
    const { wakes, endTurn, pass } = createWakes(256);
    let gone = 0;
    const work = async (ready: Promise<void> | undefined): Promise<void> => {
      await ready;
      gone += 1;
      pass(4);
    };
    const sleepers = Array.from({ length: 64 }, () => Promise.withResolvers<void>());
    if (how === "wake") {
      for (const { promise } of sleepers) void work(promise);
      wakes.wake(sleepers.map(({ resolve }) => resolve));
    } else {
      for (const _ of sleepers) void work(wakes.turn("one"));
    }
    await nextTurn();
    expect(gone).toBe(16);
    await endTurn();
    expect(gone).toBe(16 + 3); // after 12 ms
  }
});

it("short work of many goes on in one turn", async () => {
  const { wakes } = createWakes(256);
  let gone = 0;
  for (let count = 0; count < 300; count += 1)
    void Promise.resolve(wakes.turn("one")).then(() => (gone += 1));
  await nextTurn();
  expect(gone).toBe(256);
});
