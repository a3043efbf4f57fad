import { readVerificationKeys, type VerificationKey } from "@a2a-connect/signing";
import type { Finding } from "../doctor/findings.ts";
import { findFailure } from "../doctor/network.ts";
import { observeBody } from "../wire-log/observe-body.ts";

/** Watches key sets being asked for: what they said, and why they could not be had. */
export class KeySetLog {
  readonly #bodies = new Map<string, Uint8Array[]>();
  /** Why key sets could not be reached. */
  readonly lost: Finding[] = [];

  watch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      try {
        const response = await fetch(input, init);
        if (response.status !== 200) return response;
        const chunks: Uint8Array[] = []; // no more of them than are read, and the reader has a limit
        this.#bodies.set(url, chunks);
        return observeBody(response, { chunk: (bytes) => void chunks.push(bytes), end: () => {} });
      } catch (error) {
        if (init?.signal?.aborted !== true) this.lost.push(findFailure(error, url));
        throw error;
      }
    };
  }

  /** The keys of all sets that came; what cannot verify cards is passed over, as is a set that did not come to its end. */
  async keys(): Promise<readonly VerificationKey[]> {
    const texts = [...this.#bodies.values()].map((chunks) => Buffer.concat(chunks).toString("utf8"));
    return (await Promise.all(texts.map((text) => readVerificationKeys(text).catch(() => [])))).flat();
  }
}
