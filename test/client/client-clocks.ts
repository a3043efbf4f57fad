import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClientClock } from "@a2a-connect/client/internal";
import { createFakeClock } from "@a2a-connect/testing";

/** A client's clock that stands still until it is told to go on. */
export interface ManualClock extends ClientClock {
  /** Goes on by `ms`, and ends the sleeps that are due on the way. */
  advance(ms: number): Promise<void>;
}

/** Begins now: agents are told deadlines by it. */
export function createManualClock(): ManualClock {
  const clock = createFakeClock(Date.now());
  return {
    now: () => clock.now(),
    random: () => 0,
    advance: (ms) => clock.advance(ms),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const wake = () => {
          takeBack();
          reject(signal?.reason);
        };
        const takeBack = clock.schedule(ms, () => {
          signal?.removeEventListener("abort", wake);
          resolve();
        });
        signal?.addEventListener("abort", wake, { once: true });
      }),
  };
}

/**
 * A client's clock on which every sleep that is shorter than `longestMs` is over at once, and was as long as it should have
 * been: hours of waiting and looking again pass in moments. Longer sleeps end with their signals only.
 */
export function createLeapingClock(longestMs: number): ClientClock {
  let now = Date.now();
  return {
    now: () => now,
    random: () => 0,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      if (ms >= longestMs) {
        await new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      }
      await nextTurn();
      signal?.throwIfAborted();
      now += ms;
    },
  };
}
