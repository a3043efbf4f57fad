import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { type BodyTurn, BodyTurns } from "./body-turns.ts";

const kibibyte = 1024;
const alice = "10.0.0.1";
const bob = "10.0.0.2";

it("makes messages of small bodies up to 64 KiB, and of the rest when that is done and the event loop has had a turn", async () => {
  const { ask, begun, leave } = createAsker();
  for (const kib of [40, 24, 1, 63, 2]) ask(alice, kib);
  expect(begun()).toEqual([40, 24]);
  leave();
  expect(begun()).toEqual([40, 24]);
  await nextTurn();
  expect(begun()).toEqual([40, 24, 1, 63]);
  leave();
  await nextTurn();
  expect(begun()).toEqual([40, 24, 1, 63, 2]);
});

it("makes a message of one large body of a caller at a time, for four callers", async () => {
  const { ask, begun, leave } = createAsker();
  for (const kib of [500, 600]) ask(alice, kib);
  for (const kib of [501, 502, 503, 504]) ask(`10.0.0.${kib}`, kib);
  expect(begun()).toEqual([500, 501, 502, 503]);
  leave();
  await nextTurn();
  expect(begun()).toEqual([500, 501, 502, 503, 600, 504]);
});

it("serves callers in turns, with one that is not known", async () => {
  const { ask, begun, leave } = createAsker();
  for (const kib of [60, 61, 62]) ask(alice, kib);
  ask(bob, 63);
  ask(undefined, 64);
  for (let round = 0; round < 4; round += 1) {
    leave();
    await nextTurn();
  }
  expect(begun()).toEqual([60, 61, 63, 64, 62]);
});

it.each([
  ["large", 100],
  ["small", 50],
])("gives no turn to a %s body that has left the line", async (_, kib) => {
  const { ask, begun, leave } = createAsker();
  ask(alice, kib);
  const [goAway, stay] = [ask(alice, kib + 1), ask(alice, kib + 2)];
  goAway();
  leave();
  await nextTurn();
  expect(begun()).toEqual([kib, kib + 2]);
  stay(); // which says nothing to a body that has its turn
  ask(alice, kib + 3);
  expect(begun()).toHaveLength(2);
  leave();
  await nextTurn();
  expect(begun()).toEqual([kib, kib + 2, kib + 3]);
});

it("lets small bodies wait for no large one", () => {
  const { ask, begun } = createAsker();
  for (const kib of [70, 80, 40, 24, 10]) ask(alice, kib);
  expect(begun()).toEqual([70, 40, 24]);
});

/** Asks for turns, notes which have begun, and ends all that have. */
function createAsker() {
  const turns = new BodyTurns();
  const begun: number[] = [];
  const taken: BodyTurn[] = [];
  return {
    begun: () => begun,
    ask: (caller: string | undefined, kib: number) =>
      turns.ask(caller, kib * kibibyte, (turn) => {
        begun.push(kib);
        taken.push(turn);
      }),
    leave: () => {
      for (const turn of taken.splice(0)) void turn.leave();
    },
  };
}
