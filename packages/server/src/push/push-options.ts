import { dropUndefined, scaleToHeap } from "@a2a-connect/core/internal";

/**
 * Sends one request, like the platform's `fetch`. It must support `signal`, `redirect`, a body of bytes and, for a
 * notification of more than some 256 KiB, a stream of bytes whose number the `content-length` header says.
 * `caller` is the one whose webhook it is: of what is limited, one caller gets its share.
 */
export type PushFetch = (url: string, init: RequestInit, caller?: string) => Promise<Response>;

/** How long to wait before a failed webhook is tried again; each delay is between half of this and all of it. */
export interface PushRetry {
  /** After the first failure, in milliseconds. Default 1,000. */
  readonly initialMs: number;
  /** The factor from each failure in a row to the next; at least 1. Default 2. */
  readonly factor: number;
  /** The longest delay, in milliseconds. Default 3,600,000: an hour. */
  readonly maxMs: number;
}

/**
 * How to send push notifications (spec §4.3.3). With these options a server has the capability.
 *
 * The server POSTs every event of a task to each of its webhooks: in order, at least once, also after a restart. When a
 * webhook does not answer 2xx, the server tries it again as long as its task is kept, after any answer: only the task's
 * owner deletes a webhook.
 */
export interface PushOptions {
  /**
   * Sends the requests. Callers choose the addresses, so it must refuse those of private networks when it connects
   * (requirement N-6), like the guarded one of `@a2a-connect/node`. The platform's own reaches every address: it is for
   * servers whose callers are all trusted.
   */
  readonly fetch: PushFetch;
  /** Why a webhook may not be registered; undefined when it may. Default: every http and https URL may. */
  readonly refuseUrl?: (url: string) => string | undefined;
  /** Time limit for a webhook's answer, in milliseconds. Default 15,000 (requirement N-5). */
  readonly timeoutMs?: number;
  /** Default: after 1 s, then twice as long each time, and at least once an hour. */
  readonly retry?: Partial<PushRetry>;
  /**
   * Requests at a time. At most half of them are repeated attempts, and at most half go to one origin (and half of these
   * are repeated attempts), so that failing or slow webhooks do not delay others. Of each of these, one caller gets its
   * share (`limits.maxShare`). A webhook that hangs costs little but its connection. One that fails keeps its place for up
   * to a second: so this is also about how many may fail in a second. Agents of one host that have the same limits share them. Default
   * 128.
   */
  readonly maxConcurrent?: number;
  /**
   * Bytes of the notifications in these requests. The server makes no other notification of more than 16 KiB while those
   * under way have as many bytes together, so there are at most those of one notification more. One caller gets its share
   * (`limits.maxShare`). A whole task for a webhook of A2A 0.3 that would take more goes without its history and artifacts. Agents of one host share it as they share `maxConcurrent`. Default 64 MiB, or as much less as the heap is smaller than 2 GiB.
   */
  readonly maxConcurrentBytes?: number;
  /** Webhooks of one task; one more is refused with TASK_TOO_LARGE, unless it replaces another. Default 100. */
  readonly maxConfigsPerTask?: number;
  /** Bytes of one push config; a larger one is refused with InvalidArgument, so that a list of them stays small. Default 16 KiB. */
  readonly maxConfigBytes?: number;
  /** Leaves `authentication.credentials` and `token` out of answers to callers (requirement N-9). Default false. */
  readonly redactCredentials?: boolean;
}

const defaultRetry: PushRetry = { initialMs: 1_000, factor: 2, maxMs: 3_600_000 };

/**
 * The options with their defaults.
 *
 * @throws Error when a number is invalid
 */
export function completePushOptions(
  options: PushOptions,
): Required<PushOptions> & { readonly retry: PushRetry } {
  const {
    fetch,
    refuseUrl = () => undefined,
    timeoutMs = 15_000,
    maxConcurrent = 128,
    maxConcurrentBytes = scaleToHeap(64 * 2 ** 20),
    maxConfigsPerTask = 100,
    maxConfigBytes = 16 * 1024,
    redactCredentials = false,
  } = options;
  const retry = { ...defaultRetry, ...dropUndefined(options.retry ?? {}) };
  assertAtLeast("timeoutMs", timeoutMs, 1);
  assertAtLeast("maxConcurrent", maxConcurrent, 1);
  assertAtLeast("maxConcurrentBytes", maxConcurrentBytes, 1);
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
    maxConcurrentBytes,
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

/**
 * How long to wait after `attempts` failures in a row, in milliseconds. It grows exponentially, and a random part of up
 * to half is subtracted, so that webhooks that failed together are not tried again together.
 *
 * @param random from 0 up to 1
 */
export function retryDelayMs(
  attempts: number,
  { initialMs, factor, maxMs }: PushRetry,
  random: number,
): number {
  const delayMs = Math.min(maxMs, initialMs * factor ** (attempts - 1));
  return Math.ceil(delayMs / 2 + (delayMs / 2) * random);
}
