import { ReceivedText, receivedTextKey } from "@a2a-connect/bindings/client";
import { formatMessage } from "@a2a-connect/core/internal";
import { A2AService, type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { isMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { ClientClock } from "../clock.ts";
import { judgedLaterKey } from "../content/inspect-interceptor.ts";
import { CardInvalidError } from "../errors.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";
import type { CardVerdict } from "./card-verdict.ts";
import { judgeCard } from "./judge-card.ts";
import { type ReadCard, readCard } from "./read-card.ts";
import { verifyReceived } from "./verify-received.ts";

/** An extended card as it came. */
export interface ReceivedExtendedCard {
  readonly message: AgentCard;
  /** What the message was read from; undefined over wires that are not JSON. */
  readonly text: string | undefined;
  /** The public card of the agent. */
  readonly of: PublicCard;
}

/** Where the public card of an agent came from, and which URL was asked for it. */
export type PublicCard = Pick<ReceivedCard, "url" | "asked">;

/** An extended card that was judged. */
export interface JudgedExtendedCard extends ReadCard {
  /** What it was read from. */
  readonly text: string;
  /** By which it is verified again while it is in use. */
  readonly verdict: CardVerdict;
}

/** How an extended card is judged. */
export type ExtendedCardOptions = Pick<ConnectOptions, "verifyCard" | "inspect" | "maxCardBytes">;

/**
 * An extended card as it may be used: read from its text by the rules of the public one, then verified over that text, then
 * inspected. What an interceptor made of the message does not count.
 *
 * @throws CardInvalidError when something is missing or it is too large, CardRefusedError when `verifyCard` refuses it,
 *   UntrustedOutputError when `inspect` does
 */
export async function judgeExtendedCard(
  received: ReceivedExtendedCard,
  options: ExtendedCardOptions,
  clock: ClientClock,
): Promise<JudgedExtendedCard> {
  const { read, text } = readExtendedCard(received, options);
  const verdict = await judgeCard(toReceived(received.of, read, text), options, clock);
  return { ...read, text, verdict };
}

/**
 * Has extended cards verified that are asked for by the generated client. To be the innermost interceptor: `inspect` is shown
 * what was verified.
 *
 * What is refused ends the call with a ConnectError, FailedPrecondition, whose cause is a CardRefusedError or
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
        const { read, text } = readExtendedCard({ message, text: texts.of(message), of }, options);
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

function readExtendedCard(
  { message, text = textOf(message) }: ReceivedExtendedCard,
  { maxCardBytes = 1024 * 1024 }: ExtendedCardOptions,
): { readonly read: ReadCard; readonly text: string } {
  if (text.length > maxCardBytes || new TextEncoder().encode(text).byteLength > maxCardBytes) {
    const problem = `is larger than the limit of ${maxCardBytes} bytes`;
    throw new CardInvalidError(`The extended card ${problem}.`, [problem], {
      hint: "Raise `maxCardBytes` when it is meant to be that large.",
    });
  }
  return { read: readCard(text, "The extended card"), text };
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
