const ports = new Set<object>();

/**
 * Tells whether the turns of the event loop that follow are for the new connections of a port alone. Node accepts one in a turn, so
 * where hundreds wait, one behind them waits for as many turns: these must be short, and long work rests in them. They end soon.
 */
export function setAccepting(port: object, isAccepting: boolean): void {
  if (isAccepting) ports.add(port);
  else ports.delete(port);
}

/** Whether this turn is for new connections alone, of any port in this process. */
export function isAccepting(): boolean {
  return ports.size > 0;
}
