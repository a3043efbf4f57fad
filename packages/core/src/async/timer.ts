/** The longest delay of a timer, in milliseconds. A longer one would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Calls `tick` once after `delayMs`, unless the returned function is called first. */
export type Timer = (delayMs: number, tick: () => void) => () => void;

/** The platform's timer. It does not keep a process alive. */
export const startTimer: Timer = (delayMs, tick) => {
  const handle: unknown = setTimeout(tick, delayMs);
  // Node gives an object that can be unref'ed, browsers and workers a number.
  if (
    typeof handle === "object" &&
    handle !== null &&
    "unref" in handle &&
    typeof handle.unref === "function"
  ) {
    handle.unref();
  }
  return () => clearTimeout(handle as ReturnType<typeof setTimeout>); // what setTimeout gave us
};
