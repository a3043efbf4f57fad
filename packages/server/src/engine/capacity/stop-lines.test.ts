import { setImmediate as nextTurn } from "node:timers/promises";
import { createTurnCount } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { systemClock } from "../clock.ts";
import { findWakes } from "../wakes.ts";
import { StopLines } from "./stop-lines.ts";

const line = { caller: "alice", skill: undefined };

it("those that are sent away together, because one before them was not read, go on in turns", async () => {
  const lines = new StopLines(systemClock, findWakes(systemClock).executors);
  const first = Promise.withResolvers<boolean>();
  const begun = lines.run(line, 0, () => first.promise);
  const left = createTurnCount();
  const others = Array.from({ length: 2_000 }, async () => {
    const hadTurn = await lines.run(line, 0, () => Promise.resolve(true));
    left.count();
    return hadTurn;
  });
  await nextTurn();
  first.resolve(false);
  expect([await begun, new Set(await Promise.all(others))]).toEqual([true, new Set([false])]);
  expect(left.mostInATurn).toBeLessThanOrEqual(2 * 512);
});
