import { setImmediate as nextTurn } from "node:timers/promises";
import { createTurnCount } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { collectGarbage } from "../../../test-support/collect-garbage.ts";
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

it("nothing is kept of a caller none of whose tasks is to stop any more", async () => {
  const lines = new StopLines(systemClock, findWakes(systemClock).executors);
  const stopOne = (caller: string) => lines.run({ caller, skill: undefined }, 0, () => Promise.resolve(true));
  const heap = async (): Promise<number> => {
    await collectGarbage(() => false, 4);
    return process.memoryUsage().heapUsed;
  };
  const before = await heap();
  for (let at = 0; at < 200; at += 1) await stopOne(`${at}`.padEnd(100_000, "x"));
  expect((await heap()) - before).toBeLessThan(4_000_000);
  expect(await stopOne("alice")).toBe(true);
});
