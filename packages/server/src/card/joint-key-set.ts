import type { HttpHandler } from "@a2a-connect/bindings";
import type { VerificationKey } from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";
import { createDocument, type Document } from "./document.ts";
import { respondDocument } from "./respond-document.ts";

/** What serving the keys of several agents works with. */
export interface JointKeySetOptions {
  /** Those of the agents that sign, as they are now. */
  readonly keySets: () => readonly PublishedKeySet[];
  readonly clock: Pick<Clock, "now">;
  /** How long clients may keep it, in seconds. */
  readonly maxAgeSeconds: number;
}

/**
 * Serves the keys of several agents as one key set (RFC 7517 §5), for those who know the origin alone. A signature names its own
 * agent's.
 *
 * @throws ConnectError NotFound (as a rejection) when no card is signed
 */
export function createJointKeySetHandler({ keySets, clock, maxAgeSeconds }: JointKeySetOptions): HttpHandler {
  let served: { readonly text: string; readonly document: Document } | undefined;
  return async (request) => {
    const sets = keySets();
    if (sets.length === 0) {
      throw new ConnectError("no agent card is signed here, so there are no keys", Code.NotFound);
    }
    const text = JSON.stringify({ keys: joinKeys(sets) });
    if (served?.text !== text) {
      const document = await createDocument(text, "application/jwk-set+json", clock.now(), served?.document);
      served = { text, document };
    }
    return respondDocument(request, served.document, { maxAgeSeconds });
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
