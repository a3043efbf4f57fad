import type { ClientClock } from "../clock.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";
import { SharedRequest } from "./shared-request.ts";
import { verifyReceived } from "./verify-received.ts";

/** How long a card that is kept is taken for trusted, 5 minutes: after that keys may have expired or been revoked. */
const verdictLastsMs = 5 * 60_000;

/** What `verifyCard` has said about a card that is kept. Without one every card is trusted. */
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

  /** Has the card verified now. @throws CardRefusedError */
  async renew(): Promise<void> {
    if (this.#verifyCard !== undefined) {
      const beganMs = this.#clock.now();
      await verifyReceived(this.#received, this.#verifyCard);
      this.#trustedAtMs = beganMs;
    }
  }

  /**
   * Has it verified when that was not done for 5 minutes: the text that is kept, without a request. Calls at the same time
   * share one verification.
   *
   * @throws CardRefusedError, and the reason of an aborted signal
   */
  async confirm(signal?: AbortSignal): Promise<void> {
    if (this.#verifyCard !== undefined && this.#clock.now() - this.#trustedAtMs >= verdictLastsMs) {
      await this.#confirmations.join(() => this.renew(), signal);
    }
  }
}
