import { SharedRequest, shownUrl } from "@a2a-connect/core/internal";
import type { ClientClock } from "../clock.ts";
import { CardRefusedError, UntrustedOutputError } from "../errors.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";

/** How to judge cards. */
export type JudgeOptions = Pick<ConnectOptions, "verifyCard" | "inspect">;

/**
 * Verifies a card and then inspects it, before the client uses anything in it.
 *
 * @returns the verdict, which verifies the card again while it is cached
 * @throws CardRefusedError when `verifyCard` refuses it, UntrustedOutputError when `inspect` does; each with the reason
 *   as its cause
 */
export async function judgeCard(
  received: ReceivedCard,
  { verifyCard, inspect }: JudgeOptions,
  clock: ClientClock,
): Promise<CardVerdict> {
  const verdict = new CardVerdict(received, verifyCard, clock);
  await verdict.renew();
  try {
    await inspect?.({ kind: "card", card: received.card });
  } catch (cause) {
    throw new UntrustedOutputError(`${nameOf(received)} was refused by its inspector.`, {
      hint: "Look at the cause for what was wrong with it.",
      cause,
    });
  }
  return verdict;
}

/** How long the verification of a cached card counts, 5 minutes: after that keys may have expired or been revoked. */
const verdictLastsMs = 5 * 60_000;

/** The result of `verifyCard` for a cached card. Without `verifyCard` every card is trusted. */
export class CardVerdict {
  readonly #received: ReceivedCard;
  readonly #verifyCard: ConnectOptions["verifyCard"];
  readonly #clock: ClientClock;
  readonly #confirmations = new SharedRequest<void>();
  #trustedAtMs = Number.NEGATIVE_INFINITY;

  constructor(received: ReceivedCard, verifyCard: ConnectOptions["verifyCard"], clock: ClientClock) {
    this.#received = received;
    this.#verifyCard = verifyCard;
    this.#clock = clock;
  }

  /** Verifies the card now. @throws CardRefusedError */
  async renew(): Promise<void> {
    if (this.#verifyCard !== undefined) {
      const beganMs = this.#clock.now();
      await verifyReceived(this.#received, this.#verifyCard);
      this.#trustedAtMs = beganMs;
    }
  }

  /**
   * Verifies the cached text, without a request, when the last verification is more than 5 minutes old. Calls at the
   * same time share one verification.
   *
   * @throws CardRefusedError, and the reason of an aborted signal
   */
  async confirm(signal?: AbortSignal): Promise<void> {
    if (this.#verifyCard !== undefined && this.#clock.now() - this.#trustedAtMs >= verdictLastsMs) {
      await this.#confirmations.join(() => this.renew(), signal);
    }
  }
}

/** Verifies a card. @throws CardRefusedError with the error of `verifyCard` as its cause */
export async function verifyReceived(
  received: ReceivedCard,
  verifyCard: ConnectOptions["verifyCard"],
): Promise<void> {
  try {
    await verifyCard?.(received);
  } catch (cause) {
    throw new CardRefusedError(...explain(cause, received));
  }
}

/** An error with a hint of its own, such as a trust policy's, needs no further words. */
function explain(cause: unknown, received: ReceivedCard): ConstructorParameters<typeof CardRefusedError> {
  if (cause instanceof Error && "hint" in cause && typeof cause.hint === "string") {
    return [cause.message, { hint: cause.hint, cause }];
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  const end = /[.?!]$/.test(reason) ? "" : ".";
  const hint = "Look at the cause for what its verifier found.";
  return [`${nameOf(received)} is not trusted: ${reason}${end}`, { hint, cause }];
}

/** The name of a card in a sentence about it. */
function nameOf({ url, extended }: ReceivedCard): string {
  const name = extended ? "The extended card" : "The card";
  return url === undefined ? name : `${name} ${extended ? "of the agent " : ""}at ${shownUrl(url)}`;
}
