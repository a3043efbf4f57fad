import { afterTurn, Wakes } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { type Fetch, parseServerUrl } from "./server-fetch.ts";

/** Where the keys of an issuer are, and how often they are fetched. */
export interface KeySetOptions {
  /** Finds the URL of the key set. Called before every fetch. */
  readonly url: () => string | Promise<string>;
  readonly fetch: Fetch;
  readonly now: () => number;
  /** How long the keys count without being fetched again, in milliseconds. */
  readonly maxAgeMs: number;
  /** The shortest time between two fetches, in milliseconds. */
  readonly cooldownMs: number;
}

/**
 * The public keys of an issuer. It fetches them when they are first needed, shortly before they are too old, and when a token
 * names a key that is not among them; never more often than the cool-down allows, however many tokens arrive, and also when
 * fetching fails. Calls use the keys meanwhile. They wait for newer ones when these are too old, because a key may have been
 * withdrawn. While the issuer cannot be reached, the last keys count on for a day, and calls wait for a try alone
 * where none has failed within two cool-downs.
 */
export class RemoteKeySet {
  readonly #options: KeySetOptions;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** When the last fetch has failed; minus infinity when it succeeded. */
  #failedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  /** Of the calls that have waited for a fetch. */
  readonly #turns: Wakes;
  #version = 0;

  constructor(options: KeySetOptions) {
    this.#options = options;
    this.#turns = new Wakes({ nextTurn: () => new Promise(afterTurn), ticks: options.now }, maxInATurn);
  }

  /** Changes whenever other keys count. */
  get version(): number {
    return this.#version;
  }

  /**
   * Finds the key of a token of this caller, for `jwtVerify`. What it gives throws ConnectError Unavailable when there are no keys
   * at all.
   */
  findFor(share: string | undefined): JWTVerifyGetKey<CryptoKey> {
    return async (header, token) => {
      const { now, maxAgeMs, cooldownMs } = this.#options;
      const isAway = now() - this.#failedAt <= 2 * cooldownMs; // each cool-down has a try
      const mayBeOld = isAway && this.#current !== undefined;
      if (this.#ageMs > maxAgeMs && !mayBeOld) await this.#refresh(share);
      else if (this.#ageMs > maxAgeMs - cooldownMs) this.#startFetch();
      try {
        return await this.#require()(header, token);
      } catch (error) {
        const before = this.#version;
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await this.#refresh(share);
        if (this.#version === before) throw error;
        return await this.#require()(header, token);
      }
    };
  }

  get #ageMs(): number {
    return this.#options.now() - this.#fetchedAt;
  }

  get #current(): ReturnType<typeof createLocalJWKSet> | undefined {
    return this.#ageMs > longestOutageMs ? undefined : this.#keys;
  }

  #require(): ReturnType<typeof createLocalJWKSet> {
    if (this.#current === undefined) {
      throw new ConnectError("the keys that verify tokens cannot be fetched", Code.Unavailable);
    }
    return this.#current;
  }

  async #refresh(share: string | undefined): Promise<void> {
    this.#startFetch();
    if (this.#running === undefined) return;
    await this.#running;
    await this.#turns.turn(share); // thousands of calls may have waited for it
  }

  #startFetch(): void {
    const { now, cooldownMs } = this.#options;
    if (this.#running !== undefined || now() - this.#triedAt < cooldownMs) return;
    this.#triedAt = now();
    this.#running = this.#fetch().finally(() => {
      this.#running = undefined;
    });
  }

  async #fetch(): Promise<void> {
    const { url, fetch, now } = this.#options;
    try {
      const address = parseServerUrl("the URL of the keys", await url());
      const response = await fetch(address, { headers: { accept: "application/json" } });
      if (response.status !== 200) throw new Error(`${address.host} answered ${response.status}`);
      this.#keys = createLocalJWKSet((await response.json()) as JSONWebKeySet); // it checks the form
      this.#fetchedAt = now();
      this.#version += 1;
      this.#failedAt = Number.NEGATIVE_INFINITY;
    } catch {
      this.#failedAt = now(); // without keys, `#require` says so
    }
  }
}

const longestOutageMs = 86_400_000;

/** Calls that go on in one turn of the event loop. */
const maxInATurn = 64;
