import { type Signal, signal } from "@preact/signals";

/** What is sent with every call, by header. In memory only: a reload forgets it. */
export const credentials: Signal<ReadonlyMap<string, string>> = signal(new Map());

/** The headers of every request. */
export function credentialHeaders(): Iterable<readonly [name: string, value: string]> {
  return credentials.value;
}
