import { Code } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createManualTimer } from "../test-support/manual-timer.ts";
import { Deadline } from "./deadline.ts";

/** The deadlines of three calls, whose time is up at the same moment. Each turn lets one of them go on. */
function createDeadlines() {
  const turns: (() => void)[] = [];
  const turnToGoOn = (): Promise<void> => new Promise((resolve) => turns.push(resolve));
  const { timer, fire } = createManualTimer();
  const request = { signal: new AbortController().signal, turnToGoOn };
  const deadlines = [1, 2, 3].map(() => new Deadline(1_000, request, timer));
  const signals = deadlines.map(({ signal }) => signal);
  fire(1_000);
  return {
    deadlines,
    countAborted: () => signals.filter(({ aborted }) => aborted).length,
    nextTurn: async () => {
      turns.shift()?.();
      await Promise.resolve();
    },
  };
}

it("the calls whose time is up at the same moment end in turns, with DeadlineExceeded", async () => {
  const { deadlines, countAborted, nextTurn } = createDeadlines();
  for (const ended of [0, 1, 2, 3]) {
    expect(countAborted()).toBe(ended);
    await nextTurn();
  }
  expect(deadlines[0]?.signal.reason).toMatchObject({ code: Code.DeadlineExceeded });
});

it("a call that ends while it waits for its turn is not aborted", async () => {
  const { deadlines, countAborted, nextTurn } = createDeadlines();
  deadlines[1]?.stop();
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(countAborted()).toBe(2);
});
