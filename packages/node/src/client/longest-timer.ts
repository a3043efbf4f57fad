/** A timer that is set for longer goes off at once. */
export const longestTimerMs: number = 2 ** 31 - 1;
