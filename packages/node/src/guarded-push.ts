import type { PushOptions } from "@a2a-connect/server";
import { createGuardedFetch, type GuardedFetchOptions } from "./guarded-fetch.ts";

/** Push notifications to webhooks on the public internet, and what `allow` adds to it (requirement N-6). */
export interface GuardedPushOptions extends Omit<PushOptions, "fetch" | "refuseUrl">, GuardedFetchOptions {}

/** What a server needs to send notifications, and how to close it. */
export interface GuardedPush {
  readonly options: PushOptions;
  /** Closes the connections. Call it when the server has sent its last notification. */
  close(): Promise<void>;
}

/**
 * Options of a server that tests webhooks when they are registered and at each connection to them. Options with a
 * `fetch` of their own are used unchanged.
 *
 * @throws Error when an entry of `allow` is malformed
 */
export function createGuardedPush(options: PushOptions | GuardedPushOptions): GuardedPush {
  if ("fetch" in options) return { options, close: async () => {} };
  const { fetch, refuseUrl, close } = createGuardedFetch(options);
  return { options: { ...options, fetch, refuseUrl }, close };
}
