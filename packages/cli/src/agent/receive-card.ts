import { CardInvalidError, type ReceivedCard, readCard } from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import type { AgentCard } from "@a2a-connect/proto";
import type { Output } from "../output/output.ts";
import { observeBody } from "../wire-log/observe-body.ts";
import { type AgentSituation, type CardTarget, prepareConnection, withNameHint } from "./agent-connection.ts";
import { untilAborted } from "./until-aborted.ts";

/** A card as it was found. */
export interface FoundCard {
  /** Its JSON, byte for byte. */
  readonly text: string;
  /** What it says. @throws CardInvalidError when it cannot be used */
  readonly read: () => AgentCard;
}

/**
 * Fetches or reads a card, whether or not it is a good one, and whether or not this command could call the agent.
 *
 * @throws CliError USAGE, CARD_NOT_FOUND; AgentErrors of the client when there is nothing like a card
 */
export async function receiveCard(situation: AgentSituation): Promise<FoundCard> {
  const connection = await prepareConnection(situation);
  const { target, options } = connection;
  if (target.kind === "file") {
    await connection.close();
    return { text: target.text, read: () => readFileCard(target, situation.output) };
  }
  const body = new TextRecorder();
  const { fetch = globalThis.fetch } = options;
  let received: ReceivedCard | undefined;
  try {
    const agent = await untilAborted(
      situation.signal,
      connectAgent(target.url, {
        ...options,
        fetch: async (input, init) => body.record(await fetch(input, init)),
        verifyCard: (card) => {
          received = card;
        },
      }),
    );
    await agent.close();
    return foundCard(received, { text: body.text, read: () => agent.card });
  } catch (error) {
    // A card that leads to no interface of ours is one, too; and one with faults can still be looked at.
    if (received !== undefined || (error instanceof CardInvalidError && body.text !== "")) {
      return foundCard(received, {
        text: body.text,
        read: () => {
          throw error;
        },
      });
    }
    throw await withNameHint(error, situation);
  } finally {
    await connection.close();
  }
}

/** The card of a file; what is odd about it is a warning. @throws CardInvalidError */
export function readFileCard(
  { text, path }: Extract<CardTarget, { readonly kind: "file" }>,
  output: Output,
): AgentCard {
  const { card, warnings } = readCard(text, path);
  for (const warning of warnings) {
    output.warn(warning).catch(() => {}); // nobody reads it
  }
  return card;
}

function foundCard(received: ReceivedCard | undefined, otherwise: FoundCard): FoundCard {
  return received === undefined ? otherwise : { text: received.text, read: () => received.card };
}

/** Keeps the text of the last response that was no error. */
class TextRecorder {
  #decoder = new TextDecoder();
  #text = "";

  get text(): string {
    return this.#text;
  }

  record(response: Response): Response {
    if (!response.ok) {
      return response;
    }
    this.#decoder = new TextDecoder();
    this.#text = "";
    return observeBody(response, {
      chunk: (bytes) => {
        this.#text += this.#decoder.decode(bytes, { stream: true });
      },
      end: () => {},
    });
  }
}
