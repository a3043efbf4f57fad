import type { ConnectOptions, ReceivedCard } from "@a2a-connect/client";
import type { CardVerdict } from "@a2a-connect/signing";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { AgentSettings } from "./agent-settings.ts";

/** Verifies the text of a card by keys that were named, and by no others. */
export type CardVerifier = (text: string) => Promise<CardVerdict>;

/**
 * Verifies by the key that the settings of an agent name; undefined when they name none, and its card is used as it comes.
 * @param keys in place of that one @throws CliError USAGE when one is no public key
 */
export async function findCardVerifier(
  { cardKey, cardProfiles = [] }: Pick<AgentSettings, "cardKey" | "cardProfiles">,
  io: Pick<CliIo, "cwd" | "stdin">,
  keys: readonly string[] | undefined = cardKey === undefined ? undefined : [cardKey],
): Promise<CardVerifier | undefined> {
  if (keys === undefined) return undefined;
  // Loaded for those who have a key: most commands have none, and are to start quickly.
  const [{ readGivenKeys }, { verifyCard }] = await Promise.all([
    import("../keys/given-keys.ts"),
    import("@a2a-connect/signing"),
  ]);
  const given = await readGivenKeys(keys, io);
  return (text) => verifyCard(text, { trustPolicy: { keys: given.forCard(text), profiles: cardProfiles } });
}

/**
 * Refuses every card that is not verified, before anything in it is used.
 * @param given the text of a card that was read from a file, which the client gets as a message
 */
export function requireVerified(
  verify: CardVerifier,
  given?: { readonly card: ReceivedCard["card"]; readonly text: string },
): NonNullable<ConnectOptions["verifyCard"]> {
  return async ({ card, text }) => {
    const { verified, message, reason } = await verify(card === given?.card ? given.text : text);
    if (verified) return;
    throw new CliError(
      "A2ACLI_ERR_CARD_INVALID",
      `the agent's card is not verified (${reason}), so it is not used. ${message}`,
      {
        hint: "a2a card verify prints the details; a2a config show prints the key that must verify the card",
      },
    );
  };
}
