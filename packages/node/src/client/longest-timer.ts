/** The longest delay of a timer. A longer one would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;
