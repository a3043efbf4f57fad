import { ReceivedText, receivedTextKey } from "@a2a-connect/bindings/client";
import type { A2AService, AgentCard } from "@a2a-connect/proto";
import { type Client, createContextValues } from "@connectrpc/connect";
import { judgedLaterKey } from "../call-options.ts";
import { repeatCall } from "../calls/repeat-call.ts";
import { CardRefusedError, RequirementError } from "../errors.ts";
import type { UsedCard } from "../interface/used-card.ts";
import type { ConnectOptions } from "../options.ts";
import type { ClientSettings } from "../settings.ts";
import type { AgentCards } from "./agent-cards.ts";
import { type JudgedExtendedCard, judgeExtendedCard } from "./extended-card.ts";

/** An extended card that is in use. */
interface ExtendedCard extends JudgedExtendedCard {
  /** The public card to which it belongs. When that is replaced, this card is no longer used. */
  readonly of: UsedCard;
  /** Number of the call that fetched it. */
  readonly call: number;
}

/** Fetches the extended card, and keeps the one in use. */
export class ExtendedCards {
  readonly #cards: AgentCards;
  readonly #rpc: Client<typeof A2AService>;
  readonly #options: ConnectOptions;
  readonly #settings: ClientSettings;
  /** Counts the calls: of two at the same time the later one wins, whichever response is judged first. */
  #calls = 0;
  #inUse: ExtendedCard | undefined;
  /** The text of the card for which warnings were given. */
  #told: string | undefined;

  constructor(
    cards: AgentCards,
    rpc: Client<typeof A2AService>,
    options: ConnectOptions,
    settings: ClientSettings,
  ) {
    this.#cards = cards;
    this.#rpc = rpc;
    this.#options = options;
    this.#settings = settings;
  }

  /** The extended card in use; undefined without one, and when its public card was replaced. */
  get card(): AgentCard | undefined {
    return this.#inUse?.of === this.#cards.current ? this.#inUse.card : undefined;
  }

  /** See AgentClient. @param signal of the caller, and of the client */
  async get(signal: AbortSignal, headers: Readonly<Record<string, string>> = {}): Promise<AgentCard> {
    for (;;) {
      await this.#cards.renew(signal); // the call tells the agent who the caller is
      const used = this.#cards.current;
      if (used.resolved.card.capabilities?.extendedAgentCard !== true) {
        throw new RequirementError("The agent's card declares no extended card.", ["extendedAgentCard"]);
      }
      this.#calls += 1;
      const call = this.#calls;
      const judged = await this.#ask(used, headers, signal);
      signal.throwIfAborted();
      if (used === this.#cards.current) {
        this.#use({ ...judged, of: used, call });
        return judged.card;
      } // otherwise it belongs to a public card that was replaced meanwhile
    }
  }

  /**
   * Verifies the extended card again when the last verification is more than 5 minutes old. When it is refused, the
   * client goes back to the public card, which is trusted.
   */
  async renew(signal: AbortSignal): Promise<void> {
    const known = this.#inUse;
    if (known === undefined || known.of !== this.#cards.current) {
      return;
    }
    try {
      await known.verdict.confirm(signal);
    } catch (error) {
      if (!(error instanceof CardRefusedError)) {
        throw error;
      }
      if (this.#inUse === known) {
        this.#inUse = undefined;
        this.#settings.onWarning(`The agent's extended card is not in use any more: ${error.message}`);
      }
    }
  }

  async #ask(
    of: UsedCard,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<JudgedExtendedCard> {
    const { requestTimeoutMs: timeoutMs, clock } = this.#settings;
    const received = new ReceivedText();
    const contextValues = createContextValues().set(judgedLaterKey, true).set(receivedTextKey, received);
    const ask = () => this.#rpc.getExtendedAgentCard({}, { signal, timeoutMs, headers, contextValues });
    const message = await repeatCall(ask, this.#settings, signal);
    const answer = { message, text: received.of(message), of: of.resolved };
    return await judgeExtendedCard(answer, this.#options, clock);
  }

  #use(card: ExtendedCard): void {
    if (card.text !== this.#told) {
      this.#told = card.text;
      for (const warning of card.warnings) this.#settings.onWarning(warning);
    }
    if (this.card === undefined || (this.#inUse !== undefined && this.#inUse.call < card.call)) {
      this.#inUse = card;
    }
  }
}
