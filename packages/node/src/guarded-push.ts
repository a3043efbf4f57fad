import type { PushOptions } from "@a2a-connect/server";
import { createGuardedFetch, type GuardedFetchOptions } from "./guarded-fetch.ts";

/** Push notifications to webhooks on the public internet, and what `allow` adds to it (requirement N-6). */
export interface GuardedPushOptions extends Omit<PushOptions, "fetch" | "refuseUrl">, GuardedFetchOptions {}

/** What a server needs to send notifications, and what is left open by it. */
export interface GuardedPush {
  readonly options: PushOptions;
  /** Closes its connections; to be called when the server has sent its last. */
  close(): Promise<void>;
}

/**
 * Options of a server whose webhooks are checked when they are registered and whenever one is connected to. Options that
 * bring a `fetch` of their own are taken as they are.
 *
 * @throws Error when an entry of `allow` is not understood
 */
export function createGuardedPush(options: PushOptions | GuardedPushOptions): GuardedPush {
  if ("fetch" in options) return { options, close: async () => {} };
  const { fetch, refuseUrl, close } = createGuardedFetch(options);
  return { options: { ...options, fetch, refuseUrl }, close };
}
