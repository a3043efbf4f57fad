const ports = new Set<object>();

/** How long work rests at a time, at most, and how long it goes on then, in milliseconds. */
const restMs = 100;
const workMs = 10;

let restsSince = 0;

/**
 * Tells whether the turns of the event loop that follow are for the new connections of a port alone. Node accepts one in a turn, so
 * where hundreds wait, one behind them waits for as many turns: these must be short, and long work rests in them. They end soon.
 */
export function setAccepting(port: object, isAccepting: boolean): void {
  if (isAccepting) ports.add(port);
  else ports.delete(port);
}

/**
 * Whether this turn is for new connections alone, of any port in this process. Where several ports have such turns, one after the
 * other, work goes on in between.
 */
export function isAccepting(): boolean {
  if (ports.size === 0) {
    restsSince = 0;
    return false;
  }
  const now = performance.now();
  if (restsSince === 0 || now - restsSince >= restMs + workMs) restsSince = now;
  return now - restsSince < restMs;
}
