import { setImmediate as nextTurn } from "node:timers/promises";
import { vi } from "vitest";

/** Intervals that begin from here on are over when the test says so; all other time goes on. */
export function fakeIntervals(): Disposable & {
  pass(ms: number): void;
  passUntil(happened: Promise<void>): Promise<void>;
} {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  return {
    pass: (ms) => void vi.advanceTimersByTime(ms),
    /** Minutes pass, and connections are read in between. */
    async passUntil(happened) {
      let isOver = false;
      void happened.then(() => {
        isOver = true;
      });
      while (!isOver) {
        vi.advanceTimersByTime(60_000);
        await nextTurn();
      }
    },
    [Symbol.dispose]: () => void vi.useRealTimers(),
  };
}
