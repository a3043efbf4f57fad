import { formatMessage } from "@a2a-connect/core";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { CardInvalidError, UntrustedOutputError } from "../errors.ts";
import type { ConnectOptions } from "../options.ts";
import { type ReadCard, readCard } from "./read-card.ts";

/**
 * An extended card as it may be used: read by the rules of the public one, then verified, then inspected. It comes as a
 * message, so its text is not the one that was sent: it is its canonical ProtoJSON.
 *
 * @throws CardInvalidError when something is missing, UntrustedOutputError when `inspect` refuses it, whatever `verifyCard`
 *   throws
 */
export async function judgeExtendedCard(
  received: AgentCard,
  { verifyCard, inspect }: Pick<ConnectOptions, "verifyCard" | "inspect">,
): Promise<ReadCard> {
  const text = textOf(received);
  const read = readCard(text, "The extended card");
  const { card } = read;
  await verifyCard?.({ url: undefined, text, card });
  try {
    await inspect?.({ kind: "card", card });
  } catch (cause) {
    throw new UntrustedOutputError("The extended card was refused by its inspector.", {
      hint: "Look at the cause for what was wrong with it.",
      cause,
    });
  }
  return read;
}

function textOf(card: AgentCard): string {
  try {
    return JSON.stringify(formatMessage(AgentCardSchema, card));
  } catch (cause) {
    // A binary wire carries numbers that JSON has none of.
    const problem = "has values that are not JSON";
    throw new CardInvalidError(`The extended card ${problem}.`, [problem], {
      hint: "Tell the operator of the agent.",
      cause,
    });
  }
}
