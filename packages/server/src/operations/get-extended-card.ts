import { a2aError, principalKey } from "@a2a-connect/core";
import { forwardedUrlKey } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Cards } from "../card/cards.ts";
import type { Operation } from "./operation.ts";

/** GetExtendedAgentCard: the card for a caller that has said who it is (spec §3.1.11), signed as the public one is. */
export function getExtendedCard(cards: Cards): Operation<"getExtendedAgentCard"> {
  return async (_request, { values, signal }) => {
    const principal = values.get(principalKey);
    if (principal.anonymous && !cards.extendedCardIsOpen) {
      throw new ConnectError("the extended agent card needs credentials", Code.Unauthenticated);
    }
    const card = await cards.findExtended(principal, values.get(forwardedUrlKey).forwardedUrl, signal);
    if (card === undefined) {
      throw a2aError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", "there is no extended agent card");
    }
    return card;
  };
}
