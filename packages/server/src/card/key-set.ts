import type { HttpHandler } from "@a2a-connect/bindings";
import type { VerificationKey } from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { MadeOnce } from "../documents/made-once.ts";
import { createDocument, type Document, serveDocument } from "../documents/serve-document.ts";
import type { Clock } from "../engine/clock.ts";

/** What serving keys works with. */
export interface KeySetOptions {
  /** Those of each agent; undefined where its cards are not signed. */
  readonly agents: readonly { readonly keySet: PublishedKeySet | undefined }[];
  readonly clock: Pick<Clock, "now">;
  /** How long clients may keep it, in seconds. */
  readonly maxAgeSeconds: number;
}

/**
 * Serves the public keys that cards are signed with, and those that have been, as one key set (RFC 7517 §5).
 *
 * @throws ConnectError NotFound (as a rejection) when nothing is signed
 */
export function createKeySetHandler({ agents, clock, maxAgeSeconds }: KeySetOptions): HttpHandler {
  const made = new MadeOnce<Document>(1);
  return async (request) => {
    const sets = agents.flatMap(({ keySet }) => keySet ?? []);
    if (sets.length === 0) {
      throw new ConnectError("no agent card is signed here, so there are no keys", Code.NotFound);
    }
    const text = JSON.stringify({ keys: joinKeys(sets) });
    const document = await made.find("", text, (before) =>
      createDocument(text, "application/jwk-set+json", clock.now(), before),
    );
    return serveDocument(request, document, { maxAgeSeconds });
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
