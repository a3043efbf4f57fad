import type { HttpHandler } from "@a2a-connect/bindings";
import { mergeOlderCard } from "@a2a-connect/bindings/server";
import { absentProtocolVersion, parseProtocolVersion, versionHeader } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import { canonicalSignedCard } from "@a2a-connect/signing";
import type { JsonObject } from "@bufbuild/protobuf";
import type { CardForm, Cards } from "./cards.ts";
import { type AgentPlace, omittedTenant } from "./interfaces.ts";

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

/**
 * The two pages of an agent that older callers know, given those of its card in both forms: the card's own, where a card that is
 * signed has a form for each version, and the older page.
 *
 * @param signedCardVersion the form of a signed card that a request without a version gets: `1.0` or `0.3`
 */
export function olderCardPages(
  cards: Pick<Cards, "signed">,
  pages: Readonly<Record<CardForm, HttpHandler>>,
  signedCardVersion: string,
): { readonly card: HttpHandler; readonly older: HttpHandler } {
  return {
    async card(request) {
      if (!cards.signed) {
        return pages.current(request);
      }
      const version = parseProtocolVersion(request.header.get(versionHeader) || signedCardVersion);
      const page = version === absentProtocolVersion ? pages.older : pages.current;
      const response = await page(request);
      response.header?.append("vary", versionHeader);
      return response;
    },
    older: (request) => pages[cards.signed ? "older" : "current"](request),
  };
}
