import { afterTurn, isAccepting, longestTimerMs } from "@a2a-connect/core/internal";

/** The engine's clock, which tests can replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since a moment of its own. Unlike the time of day, it is never set, so it measures durations. */
  ticks(): number;
  /**
   * Runs `callback` once after `delayMs`, unless the returned function is called first. A background timer does not
   * keep the process alive.
   */
  schedule(delayMs: number, callback: () => void, options?: { readonly background?: boolean }): () => void;
  /**
   * Resolves when all code that is ready to run has run: at the end of this turn of the event loop. Everything that a
   * task accepts within one turn of the event loop becomes one commit. In turns that a port has for new connections alone, what
   * waits here rests.
   */
  nextTurn(): Promise<void>;
}

/**
 * The machine's clock. A timer keeps the process alive until it has fired or was cancelled, unless it is in the
 * background.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  schedule(delayMs, callback, { background = false } = {}) {
    // A longer delay would overflow to 1 ms. Code that wakes early reads the clock and sleeps again.
    const timer = setTimeout(callback, Math.min(delayMs, longestTimerMs));
    if (background) {
      (timer as { readonly unref?: () => void }).unref?.(); // Node, Bun and Deno have it, and browsers need none
    }
    return () => clearTimeout(timer);
  },
  nextTurn() {
    turn ??= new Promise((resolve) => {
      const end = (): void => {
        if (isAccepting()) return void afterTurn(end);
        turn = undefined;
        resolve();
      };
      afterTurn(end);
    });
    return turn;
  },
};

/** The end of this turn of the event loop, shared by all callers. */
let turn: Promise<void> | undefined;
