import { readVerificationKeys, type VerificationKey } from "@a2a-connect/signing";
import type { Finding } from "../doctor/findings.ts";
import { findFailure } from "../doctor/network.ts";
import { recordBody } from "../wire-log/observe-body.ts";

/** A key set that could not be reached, and why. */
export interface LostKeySet {
  readonly url: string;
  readonly failure: Finding;
}

/** Watches key sets being asked for: what they said, and why they could not be had. */
export class KeySetLog {
  readonly #texts = new Map<string, string>();
  readonly lost: LostKeySet[] = [];

  watch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      try {
        const response = await fetch(input, init);
        if (response.status !== 200) return response;
        return recordBody(response, (bytes) => this.#texts.set(url, bytes.toString("utf8")));
      } catch (error) {
        if (init?.signal?.aborted !== true) this.lost.push({ url, failure: findFailure(error, url) });
        throw error;
      }
    };
  }

  /** The keys of all sets that came; what cannot verify cards is passed over. */
  async keys(): Promise<readonly VerificationKey[]> {
    const read = [...this.#texts.values()].map((text) => readVerificationKeys(text).catch(() => []));
    return (await Promise.all(read)).flat();
  }
}
