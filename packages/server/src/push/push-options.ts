/** Sends one request; the platform's `fetch` is one. It has to honour `signal`, `redirect` and a body of bytes. */
export type PushFetch = (url: string, init: RequestInit) => Promise<Response>;

/** How long a webhook that has failed is left alone; each delay is between half of what this gives and all of it. */
export interface PushRetry {
  /** After the first failure, in milliseconds. Default 1,000. */
  readonly initialMs: number;
  /** What the delay grows by with each further failure in a row; at least 1. Default 2. */
  readonly factor: number;
  /** The longest delay, in milliseconds. Default 3,600,000: an hour. */
  readonly maxMs: number;
}

/**
 * How push notifications are sent (spec §4.3.3); giving them to a server switches the capability on.
 *
 * Every event of a task is POSTed to every webhook of it: in order, at least once, also after a restart. A webhook that
 * does not answer 2xx is tried again for as long as its task is kept, whatever it answered: only its owner deletes it.
 */
export interface PushOptions {
  /**
   * Sends the requests. Callers choose the addresses, so it must refuse those of private networks when it connects
   * (requirement N-6), as the guarded one of `@a2a-connect/node` does. The platform's own goes anywhere: it is for
   * servers whose callers may all be trusted.
   */
  readonly fetch: PushFetch;
  /** Why a webhook may not be registered; undefined when it may. Default: every http and https URL may. */
  readonly refuseUrl?: (url: string) => string | undefined;
  /** How long a webhook may take to answer, in milliseconds. Default 15,000 (requirement N-5). */
  readonly timeoutMs?: number;
  /** Default: after 1 s, then twice as long each time, and at least once an hour. */
  readonly retry?: Partial<PushRetry>;
  /**
   * Requests at a time. At most half of them are further attempts, and at most half go to one origin, so that webhooks
   * that fail or are slow hold up nobody. Default 32.
   */
  readonly maxConcurrent?: number;
  /** Webhooks of one task; one more is refused with TASK_TOO_LARGE, unless it replaces another. Default 100. */
  readonly maxConfigsPerTask?: number;
  /** Bytes of one push config; a larger one is refused with InvalidArgument, so that a list of them stays small. Default 16 KiB. */
  readonly maxConfigBytes?: number;
  /** Leaves `authentication.credentials` and `token` out of what callers are answered (requirement N-9). Default false. */
  readonly redactCredentials?: boolean;
}

const defaultRetry: PushRetry = { initialMs: 1_000, factor: 2, maxMs: 3_600_000 };

/**
 * The options with their defaults.
 *
 * @throws Error when a number makes no sense
 */
export function completePushOptions(
  options: PushOptions,
): Required<PushOptions> & { readonly retry: PushRetry } {
  const {
    fetch,
    refuseUrl = () => undefined,
    timeoutMs = 15_000,
    maxConcurrent = 32,
    maxConfigsPerTask = 100,
    maxConfigBytes = 16 * 1024,
    redactCredentials = false,
  } = options;
  const retry = { ...defaultRetry, ...options.retry };
  assertAtLeast("timeoutMs", timeoutMs, 1);
  assertAtLeast("maxConcurrent", maxConcurrent, 1);
  assertAtLeast("maxConfigsPerTask", maxConfigsPerTask, 1);
  assertAtLeast("maxConfigBytes", maxConfigBytes, 1);
  assertAtLeast("retry.initialMs", retry.initialMs, 1);
  assertAtLeast("retry.factor", retry.factor, 1);
  assertAtLeast("retry.maxMs", retry.maxMs, retry.initialMs);
  return {
    fetch,
    refuseUrl,
    timeoutMs,
    retry,
    maxConcurrent,
    maxConfigsPerTask,
    maxConfigBytes,
    redactCredentials,
  };
}

function assertAtLeast(name: string, value: number, least: number): void {
  if (!(value >= least && value < Number.POSITIVE_INFINITY)) {
    throw new Error(`push.${name} must be a number of at least ${least}, and is ${value}`);
  }
}
