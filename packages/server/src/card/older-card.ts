import type { HttpHandler } from "@a2a-connect/bindings";
import { mergeOlderCard } from "@a2a-connect/bindings/server";
import { absentProtocolVersion, parseProtocolVersion, versionHeader } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import { canonicalSignedCard } from "@a2a-connect/signing";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Clock } from "../engine/clock.ts";
import type { BaseUrls } from "../reach/base-urls.ts";
import type { Cards } from "./cards.ts";
import { type AgentPlace, omittedTenant } from "./interfaces.ts";
import { createDocument, type Document, serveDocument } from "./serve-document.ts";

/**
 * The text of a card that callers of A2A 1.0 and 0.3 can read: the members of both stand side by side. A signed card is
 * only in the form that was signed, and stays byte for byte what it is.
 *
 * @param place where the agent is when it is not alone
 */
export function writeInBothForms(card: AgentCard, place: AgentPlace | undefined): string {
  const text = canonicalSignedCard(card);
  return card.signatures.length > 0
    ? text
    : JSON.stringify(mergeOlderCard(JSON.parse(text) as JsonObject, omittedTenant(place)));
}

/** What the pages of older cards are made from. */
export interface OlderCardPages {
  readonly cards: Pick<Cards, "findOlder" | "signed">;
  readonly baseUrls: Pick<BaseUrls, "varyBy">;
  readonly clock: Pick<Clock, "now">;
  readonly maxAgeSeconds: number;
  /** The form of a signed card that a request without a version gets: `1.0` or `0.3`. */
  readonly signedCardVersion: string;
}

/**
 * The two pages of an agent that older callers know, given the page of its card: the card's own, where a card that is signed has
 * a form for each version, and the older page.
 */
export function olderCardPages(
  current: HttpHandler,
  { cards, baseUrls, clock, maxAgeSeconds, signedCardVersion }: OlderCardPages,
): { readonly card: HttpHandler; readonly older: HttpHandler } {
  const documents = new WeakMap<JsonObject, Promise<Document>>();
  const documentOf = (card: JsonObject) => {
    const known =
      documents.get(card) ?? createDocument(JSON.stringify(card), "application/json", clock.now(), undefined);
    documents.set(card, known);
    return known;
  };
  const older: HttpHandler = async (request) => {
    const document = await documentOf(await cards.findOlder(request, request.signal));
    return serveDocument(request, document, { maxAgeSeconds, varyBy: baseUrls.varyBy(request) });
  };
  return {
    async card(request) {
      if (!cards.signed) {
        return current(request);
      }
      const version = parseProtocolVersion(request.header.get(versionHeader) || signedCardVersion);
      const response = await (version === absentProtocolVersion ? older : current)(request);
      response.header?.append("vary", versionHeader);
      return response;
    },
    older: (request) => (cards.signed ? older : current)(request),
  };
}
