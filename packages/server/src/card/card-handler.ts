import type { HttpHandler } from "@a2a-connect/bindings";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CardPublisher } from "./card-publisher.ts";
import { respondDocument } from "./respond-document.ts";

/** What a proxy may say about the URL that its caller asked for. */
export const forwardingFields: readonly string[] = [
  "forwarded",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-prefix",
  "x-forwarded-proto",
];

/**
 * Serves the public card (spec §8.2, §8.6) in its canonical form. Needs no version header (requirement F-9).
 *
 * @param maxAgeSeconds how long clients may keep it
 * @throws ConnectError Unavailable (as a rejection) when it has to be signed and cannot be
 */
export function createCardHandler(publisher: CardPublisher, maxAgeSeconds: number): HttpHandler {
  return async (request) => {
    const { forwardedUrl } = request;
    const document = await publisher.findDocument(forwardedUrl);
    const varyBy = publisher.dependsOn(forwardedUrl) ? forwardingFields : [];
    return respondDocument(request, document, { maxAgeSeconds, varyBy });
  };
}

/**
 * Serves the public keys that the card is signed with (RFC 7517), and those that have been.
 *
 * @throws ConnectError NotFound (as a rejection) when nothing is signed
 */
export function createKeySetHandler(publisher: CardPublisher, maxAgeSeconds: number): HttpHandler {
  return async (request) => {
    const document = await publisher.findKeySet();
    if (document === undefined) {
      throw new ConnectError("the agent card is not signed, so there are no keys", Code.NotFound);
    }
    return respondDocument(request, document, { maxAgeSeconds });
  };
}
