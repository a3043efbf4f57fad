import { findA2AError } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import { driftError } from "../card/card-changes.ts";
import { adoptNewCard, mayComeOfChangedCard } from "../card/card-drift.ts";
import type { ClientContext } from "../client-context.ts";
import type { UsedCard } from "../interface/used-card.ts";
import { finalSendFailure, keyFor, maySendAgain } from "../send/idempotency-key.ts";
import type { Sending } from "./observation.ts";
import type { Outcome, Phase } from "./phases.ts";

/** The sending of one message, until the agent has taken it: under which key, and for which card. */
export class Submission {
  readonly #context: ClientContext;
  readonly #sending: Sending;
  #key: string | undefined;
  #card: UsedCard;
  /** What had changed when the message was sent once more with a new card. */
  #changes: readonly string[] | undefined;

  constructor(context: ClientContext, sending: Sending) {
    this.#context = context;
    this.#sending = sending;
    this.#card = context.cards.current;
    this.#key = keyFor(context, sending.options);
  }

  /** Idempotency key; undefined when the message may be sent only once. */
  get key(): string | undefined {
    return this.#key;
  }

  /** What a failure means, when the message was not taken as far as is known. @throws the error that is final */
  outcomeOfSendFailure(error: unknown, phase: Phase): Extract<Outcome, "refused" | "unsupported" | "broken"> {
    if (phase === "send" && this.#lacksStreams(error)) {
      return "unsupported";
    }
    if (this.#changes === undefined && mayComeOfChangedCard(error)) {
      return "refused";
    }
    if (maySendAgain(error, this.#key)) {
      return "broken";
    }
    const final = finalSendFailure(error, this.#sending.request);
    throw this.#changes === undefined
      ? final
      : driftError(this.#changes, final, this.#context.cards.current.resolved.card);
  }

  /** Fetches the card again. @throws the failure, when no change of the card explains it */
  async renew(failure: unknown, signal: AbortSignal): Promise<void> {
    this.#changes = await adoptNewCard(this.#context.cards, failure, this.#card, signal);
    this.#card = this.#context.cards.current;
    this.#key = keyFor(this.#context, this.#sending.options);
  }

  /**
   * The card promises streams and the server has none. A message to an existing task may be refused for other reasons.
   */
  #lacksStreams(error: unknown): boolean {
    const isNewTask = this.#sending.request.message?.taskId === "";
    return (
      error instanceof ConnectError &&
      (error.code === Code.Unimplemented ||
        (findA2AError(error)?.reason === "UNSUPPORTED_OPERATION" && isNewTask))
    );
  }
}
