import { type Clock, systemClock } from "@a2a-connect/server";

/** A clock that somebody sets. */
export interface ChangedClock extends Clock {
  /** Sets it forward, or back with a number below 0. Timers of the process do not notice. */
  jump(ms: number): void;
}

/** The machine's clock, as often as one likes faster, and set anew by tests. */
export function createChangedClock({ speed = 1 }: { readonly speed?: number } = {}): ChangedClock {
  const start = Date.now();
  const startTicks = performance.now();
  let jumped = 0;
  const ticks = () => (performance.now() - startTicks) * speed;
  return {
    now: () => Math.floor(start + jumped + ticks()),
    ticks,
    schedule: (delayMs, callback, options) => systemClock.schedule(delayMs / speed, callback, options),
    nextTurn: systemClock.nextTurn,
    jump(ms) {
      jumped += ms;
    },
  };
}
