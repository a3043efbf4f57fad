import type { ConnectOptions, ReceivedCard } from "@a2a-connect/client";
import type { CardVerdict } from "@a2a-connect/signing";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { AgentSettings } from "./agent-settings.ts";

/** The keys by which an agent's card is trusted, as its settings name them. */
export interface CardTrust {
  /** What comes of verifying a card by them. */
  verify(text: string): Promise<CardVerdict>;
}

/** What comes of verifying a card by the key set of its own origin. @param url where the card came from */
export type OwnOriginTrust = (text: string, url: string) => Promise<CardVerdict>;

/** Asks the key set that a card's signature names, where that is on the card's own origin. */
export async function verifyByOwnOrigin(
  text: string,
  url: string,
  signal: AbortSignal,
): Promise<CardVerdict> {
  const [{ createGuardedFetch }, { verifyCard }] = await Promise.all([
    import("@a2a-connect/node"),
    import("@a2a-connect/signing"),
  ]);
  await using guarded = createGuardedFetch({ allow: [new URL(url).host] });
  return await verifyCard(text, { trustPolicy: { jku: { fetch: guarded.fetch } }, url, signal });
}

/** What is said about an agent's card. */
export type TrustSettings = Pick<AgentSettings, "cardKey" | "cardProfiles">;

/**
 * Reads the key that the settings of an agent name; undefined when they name none, and its card is used as it comes.
 *
 * @throws CliError USAGE when it is no public key
 */
export async function findCardTrust(
  { cardKey, cardProfiles }: TrustSettings,
  io: Pick<CliIo, "cwd" | "stdin">,
): Promise<CardTrust | undefined> {
  return cardKey === undefined ? undefined : await trustKeys([cardKey], cardProfiles, io);
}

/** Trust in keys that were named, and in no others. @throws CliError USAGE when one is no public key */
export async function trustKeys(
  references: readonly string[],
  profiles: TrustSettings["cardProfiles"],
  io: Pick<CliIo, "cwd" | "stdin">,
): Promise<CardTrust> {
  // Loaded for those who have a key: most commands have none, and are to start quickly.
  const [{ readGivenKeys }, { verifyCard }] = await Promise.all([
    import("../keys/given-keys.ts"),
    import("@a2a-connect/signing"),
  ]);
  const keys = await readGivenKeys(references, io);
  return {
    verify: (text) =>
      verifyCard(text, { trustPolicy: { keys: keys.forCard(text), profiles: profiles ?? [] } }),
  };
}

/**
 * Refuses every card that is not verified, before anything in it is used.
 *
 * @param given the text of a card that was read from a file, which the client gets as a message
 */
export function requireTrusted(
  trust: CardTrust,
  given: { readonly card: ReceivedCard["card"]; readonly text: string } | undefined,
): NonNullable<ConnectOptions["verifyCard"]> {
  return async ({ card, text }) => {
    const { verified, message, reason } = await trust.verify(card === given?.card ? given.text : text);
    if (verified) return;
    throw new CliError(
      "A2ACLI_ERR_CARD_INVALID",
      `the agent's card is not verified (${reason}), so it is not used. ${message}`,
      { hint: "a2a card verify prints the details; a2a config show prints the key that was demanded" },
    );
  };
}
