import type { HttpHandler } from "@a2a-connect/bindings";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CardPublisher } from "./card-publisher.ts";
import type { ForwardedHosts } from "./forwarded-hosts.ts";
import { respondDocument } from "./respond-document.ts";

/**
 * Serves the public card (spec §8.2, §8.6) in its canonical form. Needs no version header (requirement F-9).
 *
 * @param maxAgeSeconds how long clients may keep it
 * @throws ConnectError Unavailable (as a rejection) when it has to be signed and cannot be
 */
export function createCardHandler(
  publisher: CardPublisher,
  forwardedHosts: ForwardedHosts,
  maxAgeSeconds: number,
): HttpHandler {
  return async (request) => {
    const document = await publisher.findDocument(request.forwardedUrl, request.signal);
    return respondDocument(request, document, { maxAgeSeconds, varyBy: forwardedHosts.varyBy(request) });
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
