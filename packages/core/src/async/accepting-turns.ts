const watches = new Set<object>();

/**
 * Tells whether the next turns of the event loop are for new connections alone. Node accepts one in a turn, so where hundreds wait,
 * one behind them waits for as many turns: these must be short, and long work rests in them. They end soon.
 *
 * @param watch what has decided it
 */
export function setAccepting(watch: object, isAccepting: boolean): void {
  if (isAccepting) watches.add(watch);
  else watches.delete(watch);
}

/** Whether this turn is for new connections alone. */
export function isAccepting(): boolean {
  return watches.size > 0;
}
