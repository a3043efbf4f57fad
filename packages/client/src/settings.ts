import { systemClock } from "./clock.ts";
import type { ClientSettings } from "./connection.ts";
import type { ConnectOptions } from "./options.ts";

/** The options of a client with their defaults. */
export function resolveSettings(options: ConnectOptions): ClientSettings {
  const { clock = systemClock, retry = {} } = options;
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
