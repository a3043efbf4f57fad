import type { PushRetry } from "./push-options.ts";

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
