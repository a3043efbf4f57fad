import { SharedRequest } from "@a2a-connect/core/internal";
import type { ClientClock } from "../clock.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";
import { verifyReceived } from "./verify-received.ts";

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
