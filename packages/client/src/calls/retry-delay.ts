import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { ConnectError } from "@connectrpc/connect";
import type { ClientClock } from "../clock.ts";

/** How long a failure asks the client to wait, in milliseconds; undefined when it does not say. */
export function findRetryDelay(error: unknown, now: () => number = Date.now): number | undefined {
  if (!(error instanceof ConnectError)) {
    return undefined;
  }
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return delay === undefined
    ? parseRetryAfter(error.metadata.get("retry-after"), now)
    : Math.max(0, Number(delay.seconds) * 1_000 + delay.nanos / 1e6);
}

/** The wait before a call is repeated: what its failure asks for, at least `backoffMs`, at most the longest wait. */
export function retryDelayMs(
  failures: number,
  error: unknown,
  options: BackoffOptions,
  clock: Pick<ClientClock, "now" | "random">,
): number {
  const asked = findRetryDelay(error, () => clock.now()) ?? 0;
  return Math.min(options.maxDelayMs, Math.max(asked, backoffMs(failures, options, clock)));
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | null, now: () => number): number | undefined {
  if (value === null) {
    return undefined;
  }
  if (/^\d{1,9}$/.test(value)) {
    return Number(value) * 1_000;
  }
  const date = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}

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
