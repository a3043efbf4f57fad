import { CardInvalidError, type ReceivedCard } from "@a2a-connect/client";
import { readCard } from "@a2a-connect/client/internal";
import { connectAgent } from "@a2a-connect/node/client";
import type { AgentCard } from "@a2a-connect/proto";
import type { Output } from "../output.ts";
import { recordBody } from "../wire-log/observe-body.ts";
import {
  type AgentSituation,
  type CardTarget,
  openUntilAborted,
  prepareConnection,
  withNameHint,
} from "./agent-connection.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { decodeText } from "./reference.ts";

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
  if (target.kind === "file") {
    await connection.close();
    const read = () => readFileCard(target, situation.output);
    return { text: target.text, url: undefined, asked: undefined, settings, read };
  }
  let body: { readonly url: string | undefined; text?: string | undefined } = { url: undefined };
  const { fetch = globalThis.fetch } = options;
  let received: ReceivedCard | undefined;
  const found = (read: FoundCard["read"]): FoundCard => {
    const { text = body.text ?? "", url = body.url, card } = received ?? {};
    return { text, url, asked: target.url, settings, read: card === undefined ? read : () => card };
  };
  try {
    const agent = await openUntilAborted(
      situation.signal,
      connectAgent(target.url, {
        ...options,
        // Keeps the last response that was no error.
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          if (!response.ok) return response;
          const kept: typeof body = { url: response.url || undefined };
          body = kept;
          return recordBody(response, (bytes) => {
            kept.text = decodeText(bytes);
          });
        },
        verifyCard: (card) => {
          received = card;
        },
      }),
    );
    await agent.close();
    return found(() => agent.card);
  } catch (error) {
    // A card that leads to no interface of ours is one, too; and one with faults can still be looked at.
    const isCard = received !== undefined || (error instanceof CardInvalidError && (body.text ?? "") !== "");
    if (!isCard) throw await withNameHint(error, situation);
    return found(() => {
      throw error;
    });
  } finally {
    await connection.close();
  }
}

/** The card of a file; what is odd about it is a warning. @throws CardInvalidError */
export async function readFileCard(
  { text, path }: Extract<CardTarget, { readonly kind: "file" }>,
  output: Output,
): Promise<AgentCard> {
  const { card, warnings } = await readCard(text, path);
  for (const warning of warnings) {
    output.warn(warning).catch(() => {}); // stderr may have no reader
  }
  return card;
}
