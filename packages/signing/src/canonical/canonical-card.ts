import { formatMessage, sha256Hex } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { type PruneOptions, pruneCard } from "./prune-card.ts";
import { CardTextError, readCardText } from "./unambiguous-text.ts";
import { writeCanonical } from "./write-canonical.ts";

export { CardTextError } from "./unambiguous-text.ts";

/**
 * What is signed: the canonical text of a card, without its signatures (spec §8.4.1, requirements M; RFC 8785). The same for
 * cards that say the same, whether they come as JSON in any spelling and order, or as a message. Its UTF-8 bytes are the
 * payload of every signature, and what `cardDigest` is of.
 *
 * Total on JSON: whether a card is a good one is not asked here, and a REQUIRED member that is missing stays missing. Of a message
 * only what the message type has can be told.
 *
 * @param card JSON text as it was received, or a message. The text is better: it may have members that this version does not know
 * @throws CardTextError when the text could be read in two ways, or holds what JSON has no one form for
 */
export function canonicalCard(card: AgentCard | string): string {
  return writeCanonical(pruneUnsigned(jsonOfCard(card)));
}

/**
 * The canonical text of a card with its signatures: the bytes to be served, so that verifiers that hash what they receive
 * and those that write it anew agree.
 *
 * @throws CardTextError as `canonicalCard`
 */
export function canonicalSignedCard(card: AgentCard | string): string {
  return writeCanonical(pruneCard(jsonOfCard(card)));
}

/** A card's JSON without its signatures and without what says nothing. @throws CardTextError `both-spellings` */
export function pruneUnsigned(json: JsonObject, options?: PruneOptions): JsonObject {
  const { signatures: _, ...unsigned } = json;
  return pruneCard(unsigned, options);
}

/** SHA-256 of a card, lowercase hex, over the UTF-8 of `canonicalCard`. @throws CardTextError */
export async function cardDigest(card: AgentCard | string): Promise<string> {
  return await sha256Hex(canonicalCard(card));
}

/** A card as JSON: that of a text, or what the wire would have of a message. @throws CardTextError */
export function jsonOfCard(card: AgentCard | string): JsonObject {
  if (typeof card === "string") {
    return readCardText(card, Number.POSITIVE_INFINITY);
  }
  try {
    return formatMessage(AgentCardSchema, card) as JsonObject; // a card is an object in JSON
  } catch {
    // Binary wires carry numbers and texts that JSON has none of.
    throw new CardTextError("number-out-of-range", "the card has values that are not JSON");
  }
}
