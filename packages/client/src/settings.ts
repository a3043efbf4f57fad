import { type ClientClock, systemClock } from "./clock.ts";
import type { ConnectOptions, RetryOptions } from "./options.ts";

/** The options of a client with their defaults. */
export interface ClientSettings {
  readonly clock: ClientClock;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxTaskBytes: number;
  readonly retry: Required<RetryOptions>;
  readonly onWarning: (warning: string) => void;
  /** A fresh id. */
  readonly randomId: () => string;
}

/**
 * The options with their defaults.
 *
 * @throws RangeError when a number among them cannot be meant
 */
export function resolveSettings(options: ConnectOptions): ClientSettings {
  const { clock = systemClock, retry = {} } = options;
  checkNumbers("", options);
  checkNumbers("retry.", retry);
  if (retry.attempts !== undefined && retry.attempts < 1) {
    throw new RangeError(`retry.attempts must be at least 1, the first attempt, and is ${retry.attempts}`);
  }
  return {
    clock,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    maxTaskBytes: options.maxTaskBytes ?? 128 * 1024 * 1024,
    retry: {
      attempts: retry.attempts ?? 4,
      initialDelayMs: retry.initialDelayMs ?? 250,
      maxDelayMs: retry.maxDelayMs ?? 10_000,
      giveUpAfterMs: retry.giveUpAfterMs ?? 300_000,
    },
    onWarning: options.onWarning ?? (() => {}),
    randomId: () => crypto.randomUUID(),
  };
}

/** A wrongly computed number is an error here. Otherwise it would mean no limit, or an immediate time-out. */
function checkNumbers(prefix: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === "number" && !(value >= 0)) {
      throw new RangeError(`${prefix}${name} must be 0 or more, or Infinity for no limit, and is ${value}`);
    }
  }
}
