import type { ClientClock } from "../clock.ts";

/** How long to wait between attempts. */
export interface BackoffOptions {
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
}

/**
 * The wait after `failures` failures in a row: doubled each time up to the limit, and shortened by chance to as little
 * as half.
 */
export function backoffMs(
  failures: number,
  { initialDelayMs, maxDelayMs }: BackoffOptions,
  clock: Pick<ClientClock, "random">,
): number {
  const full = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(failures - 1, 30));
  return full * (0.5 + clock.random() / 2);
}
