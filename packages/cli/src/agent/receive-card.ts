import { CardInvalidError, type ReceivedCard } from "@a2a-connect/client";
import { readCard } from "@a2a-connect/client/internal";
import { connectAgent } from "@a2a-connect/node/client";
import type { AgentCard } from "@a2a-connect/proto";
import type { Output } from "../output.ts";
import { observeBody } from "../wire-log/observe-body.ts";
import { type AgentSituation, type CardTarget, prepareConnection, withNameHint } from "./agent-connection.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { decodeText } from "./reference.ts";
import { untilAborted } from "./until-aborted.ts";

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
  readonly read: () => AgentCard;
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
  const body = new BodyRecorder();
  const asked = target.url;
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
    return foundCard(received, {
      text: body.text ?? "",
      url: body.url,
      asked,
      settings,
      read: () => agent.card,
    });
  } catch (error) {
    // A card that leads to no interface of ours is one, too; and one with faults can still be looked at.
    const text = received === undefined && error instanceof CardInvalidError ? body.text : "";
    if (received !== undefined || (text !== undefined && text !== "")) {
      const read = () => {
        throw error;
      };
      return foundCard(received, { text: text ?? "", url: body.url, asked, settings, read });
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
  return received === undefined
    ? otherwise
    : { ...otherwise, text: received.text, url: received.url, read: () => received.card };
}

/** Keeps the last response that was no error. */
class BodyRecorder {
  #chunks: Uint8Array[] = [];
  #isWhole = false;
  #url: string | undefined;

  /** Undefined when it was not read to its end, or is no UTF-8. */
  get text(): string | undefined {
    return this.#isWhole ? decodeText(Buffer.concat(this.#chunks)) : undefined;
  }

  get url(): string | undefined {
    return this.#url;
  }

  record(response: Response): Response {
    if (!response.ok) return response;
    this.#chunks = [];
    this.#isWhole = false;
    this.#url = response.url === "" ? undefined : response.url;
    return observeBody(response, {
      chunk: (bytes) => void this.#chunks.push(bytes),
      end: (how) => {
        this.#isWhole = how === "ended";
      },
    });
  }
}
