import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { setAccepting } from "@a2a-connect/core/internal";
import { expect, it } from "vitest";
import { systemClock } from "./clock.ts";

it("work that waits for the next turn rests in turns for new connections alone", async () => {
  const port = {};
  let isNext = false;
  setAccepting(port, true);
  const next = systemClock.nextTurn().then(() => {
    isNext = true;
  });
  for (let turn = 0; turn < 10; turn += 1) await turnOfTheLoop();
  expect(isNext).toBe(false);
  setAccepting(port, false);
  await next;
});
