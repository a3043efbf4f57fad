import { expect, it } from "vitest";
import { findWakes } from "./wakes.ts";

it("engines with the same clock share the turns of the event loop", () => {
  const clock = { nextTurn: () => new Promise<void>(() => {}), ticks: () => 0 };
  const [one, other] = [findWakes(clock), findWakes(clock)];
  for (let count = 0; count < 32; count += 1) expect(one.executors.turn("alice")).toBeUndefined();
  expect(other.executors.turn("bob")).toBeInstanceOf(Promise);
});
