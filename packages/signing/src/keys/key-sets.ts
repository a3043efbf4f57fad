import {
  longestVerifiedLifetimeMs,
  RecentMap,
  readFreshness,
  SharedRequest,
  shownUrl,
} from "@a2a-connect/core/internal";
import type { JkuPolicy } from "../trust/trust-policy.ts";
import type { Refusal } from "../verify/faults.ts";
import { type FetchedKeySet, fetchKeySet } from "./fetch-key-set.ts";
import type { VerificationKey } from "./key-type.ts";

/** The keys with an id, at least one; or why there are none. */
export type KeyLookup =
  | { readonly keys: readonly VerificationKey[]; readonly fault?: undefined }
  | Refusal<"key-unknown" | "jwks-unavailable">;

/** How a key is looked up. */
export interface KeyLookupOptions {
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  /** Asks, when the policy has no `fetch` of its own. Default the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Stops waiting. A request that no caller waits for any more is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Key sets that are kept: those that were looked into last. */
const maxKeySets = 100;

/** How long a key set is kept when it says nothing about that. */
const ttlMs = 10 * 60_000;

/** How long a key set is not asked again, for a key that it does not have or because it failed. */
const coolDownMs = 30_000;

/** Key sets of other servers, kept for a while. */
export interface KeySets {
  /**
   * The keys of a key set that have this id. The same objects come back for as long as the set is kept.
   *
   * @param url must be one that the policy allows: see `checkJku`
   * @throws what the signal was aborted with, and nothing else
   */
  find(url: URL, kid: string, options: KeyLookupOptions): Promise<KeyLookup>;
}

/**
 * A cache of key sets. It fetches each set with one request at a time, which all callers share. It does not use a set that is
 * too old, even when it cannot fetch a newer one. When a set lacks a key, the cache fetches it again, once. After that, and after
 * a failure, it does not fetch the set for `coolDownMs`.
 *
 * It is ours and not `createRemoteJWKSet` of jose, which has neither our clock nor limits of size, shares no request between
 * callers with signals of their own, and does not tell a key that is missing from one that is of no use.
 */
export function createKeySets(policy: JkuPolicy): KeySets {
  const states = new RecentMap<string, KeySetState>(maxKeySets);
  return {
    find(url, kid, options) {
      const state = states.get(url.href) ?? new KeySetState(url, policy);
      states.set(url.href, state);
      return state.find(kid, options);
    },
  };
}

/** What is known of one key set. */
class KeySetState {
  readonly #url: URL;
  readonly #policy: JkuPolicy;
  #keySet: KeySet | undefined;
  /** Why the last request brought none: the rest of a sentence about it. */
  #problem: string | undefined;
  /** When it was fetched: what holds from then on ends, too, when a clock is set back. */
  #fetchedMs = 0;
  #freshUntilMs = 0;
  /** Until when it is not fetched: after a failure at all, else not for a key that it lacked. */
  #restUntilMs = 0;
  readonly #request = new SharedRequest<FetchedKeySet | string>();

  constructor(url: URL, policy: JkuPolicy) {
    this.#url = url;
    this.#policy = policy;
  }

  async find(kid: string, { now, fetch = globalThis.fetch, signal }: KeyLookupOptions): Promise<KeyLookup> {
    const holds = (untilMs: number) => this.#fetchedMs <= now && now < untilMs;
    const known = holds(this.#freshUntilMs) ? this.#keySet : undefined;
    if (known?.has(kid)) return this.#lookup(known, kid);
    // One that may not be kept tells what it lacks all the same.
    const last = this.#problem === undefined ? this.#keySet : undefined;
    if (holds(this.#restUntilMs) && !last?.has(kid)) return this.#lookup(last, kid);
    const { maxBytes = 256 * 1024 } = this.#policy;
    const asked = { url: this.#url, fetch: this.#policy.fetch ?? fetch, maxBytes };
    const answer = await this.#request.join((stop) => fetchKeySet({ ...asked, signal: stop }), signal);
    const restUntilMs = now + coolDownMs;
    this.#fetchedMs = now;
    if (typeof answer === "string") {
      this.#problem = answer;
      this.#restUntilMs = restUntilMs;
      return this.#lookup(undefined, kid);
    }
    this.#problem = undefined;
    this.#keySet = collectKeys(answer.entries);
    this.#freshUntilMs = readFreshness(answer.headers, now, ttlMs, longestVerifiedLifetimeMs).freshUntilMs;
    if (!this.#keySet.has(kid)) this.#restUntilMs = restUntilMs;
    return this.#lookup(this.#keySet, kid);
  }

  #lookup(keySet: KeySet | undefined, kid: string): KeyLookup {
    const keys = keySet?.get(kid);
    if (keys !== undefined) return { keys };
    const fault = this.#problem === undefined ? "key-unknown" : "jwks-unavailable";
    const problem = this.#problem ?? "has no public key with this id";
    return { fault, problem: `the key set ${shownUrl(this.#url)} ${problem}` };
  }
}

/** The keys of a key set that can be used, by their id. */
type KeySet = ReadonlyMap<string, readonly VerificationKey[]>;

/** Keys that are used of one set. */
const maxKeys = 100;

/** Keys that are used of those with the same id: each has to be tried. */
const maxKeysOfOneId = 4;

/** Keys without an id, and what is no key, are passed over (RFC 7517 §5). */
function collectKeys(entries: readonly unknown[]): KeySet {
  const byId = Map.groupBy(entries.filter(isPublicKey).slice(0, maxKeys), ({ kid }) => kid);
  return new Map([...byId].map(([kid, keys]) => [kid, keys.slice(0, maxKeysOfOneId)]));
}

/** Members of private and symmetric keys (RFC 7518 §6.2.2, §6.3.2, §6.4; RFC 8037 §2). */
const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] as const;

/**
 * What its other members mean, and whether they make a key, is asked when it is used. A key that the set shows with its secret part
 * is none: every reader of the set can sign with it.
 */
function isPublicKey(entry: unknown): entry is VerificationKey {
  const { kid, kty } = (entry ?? {}) as Partial<Record<"kid" | "kty", unknown>>; // any JSON value has members or none
  if (typeof kid !== "string" || kid === "" || typeof kty !== "string") return false;
  return kty !== "oct" && !secretMembers.some((member) => Object.hasOwn(entry as object, member));
}
