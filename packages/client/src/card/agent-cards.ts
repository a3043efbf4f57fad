import { CardInvalidError, CardNotFoundError, UnreachableError } from "../errors.ts";
import type { AgentTransport } from "../interface/agent-transport.ts";
import type { UsedCard } from "../interface/used-card.ts";
import { describeChanges, driftError } from "./card-changes.ts";
import type { CardResolver, ResolvedCard } from "./card-resolver.ts";

/** A card that is about to be used. */
interface Adoption {
  readonly resolved: ResolvedCard;
  readonly done: Promise<void>;
}

/** The agent's public card, and its replacement when it has changed. `card-drift.ts` has what that means for a call. */
export class AgentCards {
  readonly #transport: AgentTransport;
  readonly #resolver: CardResolver;
  readonly #test: (resolved: ResolvedCard) => Promise<UsedCard>;
  readonly #onWarning: (warning: string) => void;
  #adoption: Adoption | undefined;
  /** Whether the warning was given that the card could not be renewed. */
  #isOutdated = false;

  /** @param test tests another card before it is used; rejects when it does not fit the options */
  constructor(
    transport: AgentTransport,
    resolver: CardResolver,
    test: (resolved: ResolvedCard) => Promise<UsedCard>,
    onWarning: (warning: string) => void,
  ) {
    this.#transport = transport;
    this.#resolver = resolver;
    this.#test = test;
    this.#onWarning = onWarning;
  }

  /** The card in use. */
  get current(): UsedCard {
    return this.#transport.card;
  }

  /**
   * Looks for another card when the known one is out of date by its cache headers (requirement L-6). When the agent has
   * no readable card, the client keeps the known one as long as it is trusted. When the new card is refused, the client
   * uses neither: an attacker may be in between, or the agent is not what it was.
   *
   * @throws CardDriftError when there is another card that does not meet the requirements; CardRefusedError or
   *   UntrustedOutputError when it is refused
   */
  async renew(signal: AbortSignal): Promise<void> {
    const before = this.current.resolved;
    const resolved = await this.#resolveOrRecall(signal);
    await this.#adopt(resolved, before);
  }

  async #resolveOrRecall(signal: AbortSignal): Promise<ResolvedCard> {
    try {
      const resolved = await this.#resolver.resolve(signal);
      this.#isOutdated = false;
      return resolved;
    } catch (error) {
      signal.throwIfAborted();
      if (!isNoCard(error)) {
        throw error;
      }
      const known = await this.#resolver.recall(signal);
      if (!this.#isOutdated) {
        this.#isOutdated = true;
        this.#onWarning(`The agent's card could not be renewed: ${String(error)}`);
      }
      return known;
    }
  }

  /**
   * Replaces the card that was in use when the new one was fetched. One replacement at a time: a call that brings the
   * same card meanwhile waits for it.
   */
  async #adopt(resolved: ResolvedCard, before: ResolvedCard): Promise<void> {
    while (this.#adoption !== undefined && this.#adoption.resolved !== resolved) {
      await this.#adoption.done.catch(() => {}); // the call that brought the card gets the error
    }
    if (resolved === before || before !== this.current.resolved) {
      return;
    }
    this.#adoption ??= { resolved, done: this.#replace(resolved) };
    await this.#adoption.done;
  }

  async #replace(resolved: ResolvedCard): Promise<void> {
    const before = this.current.resolved.card;
    const sentences = describeChanges(before, resolved.card);
    try {
      this.#transport.use(await this.#test(resolved));
    } catch (error) {
      throw driftError(sentences, error, resolved.card);
    } finally {
      this.#adoption = undefined;
    }
    if (sentences.length > 0) {
      const version =
        before.version === resolved.card.version ? ` The version is still ${before.version}.` : "";
      this.#onWarning(`The agent's card has changed: ${sentences.join(" ")}${version}`);
    }
    for (const warning of resolved.warnings) {
      this.#onWarning(warning);
    }
  }

  /** The agent's current card; undefined when it has none. */
  async #findNewCard(signal: AbortSignal): Promise<ResolvedCard | undefined> {
    try {
      return await this.#resolver.refresh(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isNoCard(error)) {
        throw error;
      }
      return undefined;
    }
  }

  /**
   * Fetches the card that the agent has now, unless another call has brought a newer one than `used`.
   *
   * @returns what has changed since `used`
   * @throws CardDriftError when the new card does not meet the requirements; CardRefusedError or UntrustedOutputError
   *   when it is refused
   */
  async adoptLatest(used: UsedCard, signal: AbortSignal): Promise<readonly string[]> {
    if (used === this.current) {
      await this.#adopt((await this.#findNewCard(signal)) ?? used.resolved, used.resolved);
    } // otherwise another call was faster
    return describeChanges(used.resolved.card, this.current.resolved.card);
  }
}

/** Whether there was no card to judge: it could not be fetched, or is not a card. */
function isNoCard(error: unknown): boolean {
  return (
    error instanceof CardNotFoundError ||
    error instanceof CardInvalidError ||
    error instanceof UnreachableError
  );
}
