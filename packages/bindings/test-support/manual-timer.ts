import type { Timer } from "@a2a-connect/core/internal";

/** A timer whose ticks the test decides. */
export interface ManualTimer {
  readonly timer: Timer;
  /** Delays in milliseconds of what is pending, in the order it was started. */
  readonly pending: () => readonly number[];
  /** Fire what is pending with this delay. */
  readonly fire: (delayMs: number) => void;
}

export function createManualTimer(): ManualTimer {
  const timers = new Set<{ readonly delayMs: number; readonly tick: () => void }>();
  return {
    timer: (delayMs, tick) => {
      const entry = { delayMs, tick };
      timers.add(entry);
      return () => void timers.delete(entry);
    },
    pending: () => [...timers].map(({ delayMs }) => delayMs),
    fire(delayMs) {
      for (const entry of [...timers].filter((timer) => timer.delayMs === delayMs)) {
        timers.delete(entry);
        entry.tick();
      }
    },
  };
}
