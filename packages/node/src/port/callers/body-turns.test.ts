import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { defaultLimits } from "../listen-options.ts";
import { type BodyTurn, BodyTurns } from "./body-turns.ts";
import { Callers } from "./callers.ts";

const alice = "10.0.0.1";
const bob = "10.0.0.2";

it("lets work begin up to its bytes, and the rest when that is done and the event loop has had a turn", async () => {
  const { ask, begun, leave } = createAsker(new BodyTurns(100));
  for (const bytes of [60, 40, 1, 99, 2]) ask(alice, bytes);
  expect(begun()).toEqual([60, 40]);
  leave();
  expect(begun()).toEqual([60, 40]);
  await nextTurn();
  expect(begun()).toEqual([60, 40, 1, 99]);
  leave();
  await nextTurn();
  expect(begun()).toEqual([60, 40, 1, 99, 2]);
});

it("lets one piece of work at a time begin that is larger", async () => {
  const { ask, begun, leave } = createAsker(new BodyTurns(0));
  for (const bytes of [500, 600]) ask(alice, bytes);
  expect(begun()).toEqual([500]);
  leave();
  await nextTurn();
  expect(begun()).toEqual([500, 600]);
});

it("serves callers in turns", async () => {
  const { ask, begun, leave } = createAsker(new BodyTurns(10));
  for (const bytes of [10, 9, 8]) ask(alice, bytes);
  ask(bob, 7);
  for (let round = 0; round < 3; round += 1) {
    leave();
    await nextTurn();
  }
  expect(begun()).toEqual([10, 9, 7, 8]);
});

it("passes over work that is not wanted any more", async () => {
  const turns = new BodyTurns(10);
  const { ask, begun, leave } = createAsker(turns);
  ask(alice, 10);
  turns.ask(alice, 10, () => false);
  ask(alice, 10);
  leave();
  await nextTurn();
  expect(begun()).toEqual([10, 10]);
});

it("lets small bodies wait for no large one", () => {
  const connection = new Callers(defaultLimits).connectionOf(new EventEmitter(), () => alice);
  const begun: number[] = [];
  for (const length of [70_000, 80_000, 40_000, 25_000, 10_000]) {
    connection.askTurnBeforeMessage(length, () => {
      begun.push(length);
      return true;
    });
  }
  expect(begun).toEqual([70_000, 40_000, 25_000]);
});

/** Asks for turns, notes which have begun, and ends all that have. */
function createAsker(turns: BodyTurns) {
  const begun: number[] = [];
  const taken: BodyTurn[] = [];
  return {
    begun: () => begun,
    ask: (caller: string, bytes: number) =>
      turns.ask(caller, bytes, (turn) => {
        begun.push(bytes);
        taken.push(turn);
        return true;
      }),
    leave: () => {
      for (const turn of taken.splice(0)) turn.leave();
    },
  };
}
