import type { HttpHandler } from "@a2a-connect/bindings";
import type { VerificationKey } from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";
import { Publication } from "./publication.ts";
import { serveDocument } from "./serve-document.ts";

/** What serving keys works with. */
export interface KeySetOptions {
  /** Those of each agent that signs, as they are now. */
  readonly keySets: () => readonly PublishedKeySet[];
  /** What callers are told where none signs. */
  readonly missing: string;
  readonly clock: Pick<Clock, "now" | "schedule">;
  /** How long clients may keep it, in seconds. */
  readonly maxAgeSeconds: number;
}

/**
 * Serves the public keys that cards are signed with, and those that have been, as one key set (RFC 7517 §5).
 *
 * @throws ConnectError NotFound (as a rejection) when nothing is signed
 */
export function createKeySetHandler({ keySets, missing, clock, maxAgeSeconds }: KeySetOptions): HttpHandler {
  const publication = new Publication({ contentType: "application/jwk-set+json", clock });
  return async (request) => {
    const sets = keySets();
    if (sets.length === 0) {
      throw new ConnectError(missing, Code.NotFound);
    }
    const text = JSON.stringify({ keys: joinKeys(sets) });
    return serveDocument(request, await publication.find(text, () => text), { maxAgeSeconds });
  };
}

/** Each key once; with the latest date where agents have retired it at different times. Keys that only share an id all stay. */
function joinKeys(sets: readonly PublishedKeySet[]): readonly VerificationKey[] {
  const keys = new Map<string, VerificationKey>();
  for (const key of sets.flatMap((set) => set.keys)) {
    const { exp = Number.POSITIVE_INFINITY, ...undated } = key;
    const identity = JSON.stringify(undated);
    const known = keys.get(identity);
    if (known === undefined || exp > (known.exp ?? Number.POSITIVE_INFINITY)) keys.set(identity, key);
  }
  return [...keys.values()];
}
