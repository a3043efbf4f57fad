import { ReceivedText, receivedTextKey } from "@a2a-connect/bindings/client";
import { formatMessage } from "@a2a-connect/core/internal";
import { A2AService, type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { isMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { judgedLaterKey } from "../call-options.ts";
import type { ClientClock } from "../clock.ts";
import { CardInvalidError } from "../errors.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";
import { type CardVerdict, judgeCard, verifyReceived } from "./card-verdict.ts";
import { type ReadCard, readCard } from "./read-card.ts";

/** An extended card as received. */
export interface ReceivedExtendedCard {
  readonly message: AgentCard;
  /** The text from which the message was read; undefined over wires that are not JSON. */
  readonly text: string | undefined;
  /** The public card of the agent. */
  readonly of: PublicCard;
}

/** Where the agent's public card came from, and which URL was fetched for it. */
export type PublicCard = Pick<ReceivedCard, "url" | "asked">;

/** An extended card that was judged. */
export interface JudgedExtendedCard extends ReadCard {
  /** The text from which it was read. */
  readonly text: string;
  /** Verifies it again while it is in use. */
  readonly verdict: CardVerdict;
}

/** How to judge an extended card. */
export type ExtendedCardOptions = Pick<ConnectOptions, "verifyCard" | "inspect" | "maxCardBytes">;

/**
 * An extended card that may be used: read from its text by the rules of the public one, then verified over that text,
 * then inspected. Changes that an interceptor made to the message do not count.
 *
 * @throws CardInvalidError when a field is missing or the card is too large, CardRefusedError when `verifyCard` refuses
 *   it, UntrustedOutputError when `inspect` does
 */
export async function judgeExtendedCard(
  received: ReceivedExtendedCard,
  options: ExtendedCardOptions,
  clock: ClientClock,
): Promise<JudgedExtendedCard> {
  const { read, text } = await readExtendedCard(received, options);
  const verdict = await judgeCard(toReceived(received.of, read, text), options, clock);
  return { ...read, text, verdict };
}

/**
 * Verifies extended cards that the generated client fetches. It must be the innermost interceptor, so that `inspect`
 * sees the verified card.
 *
 * A refused card ends the call with a ConnectError, FailedPrecondition, whose cause is a CardRefusedError or
 * CardInvalidError.
 *
 * @param of the public card
 */
export function verifyExtendedCards(of: PublicCard, options: ExtendedCardOptions): Interceptor {
  return (next) => async (request) => {
    const { contextValues, method } = request;
    if (method !== A2AService.method.getExtendedAgentCard || contextValues.get(judgedLaterKey)) {
      return next(request);
    }
    const texts = contextValues.get(receivedTextKey) ?? new ReceivedText();
    contextValues.set(receivedTextKey, texts);
    const response = await next(request);
    const { message } = response;
    if (isMessage(message, AgentCardSchema)) {
      await refuseInCall(async () => {
        const { read, text } = await readExtendedCard({ message, text: texts.of(message), of }, options);
        await verifyReceived(toReceived(of, read, text), options.verifyCard);
      });
    }
    return response;
  };
}

function toReceived({ url, asked }: PublicCard, { card }: ReadCard, text: string): ReceivedCard {
  return { url, asked, text, card, extended: true };
}

/** Interceptors can throw ConnectErrors only. */
async function refuseInCall(judge: () => Promise<void>): Promise<void> {
  try {
    await judge();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectError(reason, Code.FailedPrecondition, undefined, undefined, cause);
  }
}

async function readExtendedCard(
  { message, text = textOf(message) }: ReceivedExtendedCard,
  { maxCardBytes = 1024 * 1024 }: ExtendedCardOptions,
): Promise<{ readonly read: ReadCard; readonly text: string }> {
  if (text.length > maxCardBytes || new TextEncoder().encode(text).byteLength > maxCardBytes) {
    const problem = `is larger than the limit of ${maxCardBytes} bytes`;
    throw new CardInvalidError(`The extended card ${problem}.`, [problem], {
      hint: "Raise `maxCardBytes` when it is meant to be that large.",
    });
  }
  return { read: await readCard(text, "The extended card"), text };
}

function textOf(card: AgentCard): string {
  try {
    return JSON.stringify(formatMessage(AgentCardSchema, card));
  } catch (cause) {
    // A binary wire can carry numbers that JSON cannot.
    const problem = "has values that are not JSON";
    throw new CardInvalidError(`The extended card ${problem}.`, [problem], {
      hint: "Tell the operator of the agent.",
      cause,
    });
  }
}
