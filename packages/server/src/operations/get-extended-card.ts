import { a2aError, principalKey } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CardSource } from "../card/card-source.ts";
import type { Operation } from "./operation.ts";

/** GetExtendedAgentCard: the card for a caller that has said who it is (spec §3.1.11). */
export function getExtendedCard(cards: CardSource): Operation<"getExtendedAgentCard"> {
  return (_request, { values }) => {
    const principal = values.get(principalKey);
    if (principal.anonymous && !cards.extendedCardIsOpen) {
      throw new ConnectError("the extended agent card needs credentials", Code.Unauthenticated);
    }
    const card = cards.findExtended(principal);
    if (card === undefined) {
      throw a2aError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", "there is no extended agent card");
    }
    return card;
  };
}
