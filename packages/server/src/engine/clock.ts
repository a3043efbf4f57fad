/** Time as the engine sees it, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since a moment of its own, which nobody sets forward or back: what durations are measured by. */
  ticks(): number;
  /**
   * Runs `callback` once after `delayMs`, unless the returned function is called before. Something in the background is
   * no reason for the process to stay.
   */
  schedule(delayMs: number, callback: () => void, options?: { readonly background?: boolean }): () => void;
  /**
   * Resolves when everything that is ready to run has run: at the end of this turn of the event loop. What a task
   * accepts within one turn becomes one commit.
   */
  nextTurn(): Promise<void>;
}

/** The longest delay that a timer takes. */
const maxDelayMs = 2 ** 31 - 1;

/** The machine's clock. A timer holds the process until it has rung or was taken back, unless it is in the background. */
export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  schedule(delayMs, callback, { background = false } = {}) {
    // A longer delay would overflow to 1 ms; whoever wakes early looks at the clock and sleeps again.
    const timer = setTimeout(callback, Math.min(delayMs, maxDelayMs));
    if (background) {
      (timer as { readonly unref?: () => void }).unref?.(); // Node, Bun and Deno have it, and browsers need none
    }
    return () => clearTimeout(timer);
  },
  nextTurn() {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined;
        resolve();
      });
    });
    return turn;
  },
};

/** The end of this turn, shared by all who wait for it. */
let turn: Promise<void> | undefined;

/** Node, Bun and Deno have `setImmediate`, which is no web standard; elsewhere a timer is the nearest thing. */
const { setImmediate = (callback: () => void) => setTimeout(callback, 0) } = globalThis as {
  readonly setImmediate?: (callback: () => void) => unknown;
};
