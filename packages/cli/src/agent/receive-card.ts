import { findCardText, readCard } from "@a2a-connect/client/internal";
import { shownUrl } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import type { Output } from "../output.ts";
import { type AgentSituation, prepareConnection, withNameHint } from "./agent-connection.ts";
import type { AgentSettings } from "./agent-settings.ts";

/** A card as it was found. */
export interface FoundCard {
  /** Its JSON, byte for byte. */
  readonly text: string;
  /** Where it came from, after redirects; undefined for a file, and for what did not come by itself. */
  readonly url: string | undefined;
  /** The address that was asked for it. */
  readonly asked: string | undefined;
  /** What holds for this agent. */
  readonly settings: AgentSettings;
  /** What it says. @throws CardInvalidError when it cannot be used */
  readonly read: () => AgentCard | Promise<AgentCard>;
}

/**
 * Fetches or reads a card, whether or not it is a good one, and whether or not this command could call the agent.
 *
 * @throws CliError USAGE, CARD_NOT_FOUND; AgentErrors of the client when there is nothing like a card
 */
export async function receiveCard(situation: AgentSituation): Promise<FoundCard> {
  const connection = await prepareConnection(situation);
  const { target, options, settings } = connection;
  const reader = (text: string, what: string) => () => readWithWarnings(text, what, situation.output);
  try {
    if (target.kind === "file") {
      const { text, path } = target;
      return { text, url: undefined, asked: undefined, settings, read: reader(text, path) };
    }
    const { text, url } = await findCardText(target.url, options, situation.signal);
    return { text, url, asked: target.url, settings, read: reader(text, `The card at ${shownUrl(url)}`) };
  } catch (error) {
    throw await withNameHint(error, situation);
  } finally {
    await connection.close();
  }
}

/** The card that a text is; what is odd about it is a warning. @param what names it @throws CardInvalidError */
export async function readWithWarnings(text: string, what: string, output: Output): Promise<AgentCard> {
  const { card, warnings } = await readCard(text, what);
  for (const warning of warnings) {
    output.warn(warning).catch(() => {}); // stderr may have no reader
  }
  return card;
}
