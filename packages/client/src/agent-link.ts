import { findA2AError } from "@a2a-connect/core";
import { A2AService, type AgentCard, type AgentInterface } from "@a2a-connect/proto";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { describeChanges } from "./card/card-changes.ts";
import type { CardResolver, ResolvedCard } from "./card/card-resolver.ts";
import {
  CardDriftError,
  CardInvalidError,
  CardNotFoundError,
  InputModeError,
  RequirementError,
  TaskRejectedError,
} from "./errors.ts";
import { LinkCalls, type Replaceable } from "./interface/link-calls.ts";

/** One card, and the interface of it that is used. */
export interface Link extends Replaceable {
  readonly resolved: ResolvedCard;
  /** In use now: after another one could not be reached it is the next. */
  readonly interface: () => { readonly interface: AgentInterface; readonly protocolVersion: string };
  readonly honoursKeys: boolean;
}

/** A card on its way to be used. */
interface Adoption {
  readonly resolved: ResolvedCard;
  readonly done: Promise<void>;
}

/** The link in use, and how another one takes its place when the agent's card has changed (drift). */
export class AgentLink {
  /** Calls the agent by the link that is in use when a call begins. */
  readonly rpc: Client<typeof A2AService>;
  readonly #resolver: CardResolver;
  readonly #relink: (resolved: ResolvedCard) => Promise<Link>;
  readonly #onWarning: (warning: string) => void;
  readonly #calls: LinkCalls<Link>;
  #adoption: Adoption | undefined;
  /** Whether it was said that the card could not be renewed. */
  #isOutdated = false;

  /** @param relink makes a link of another card; checks it first */
  constructor(
    link: Link,
    resolver: CardResolver,
    relink: (resolved: ResolvedCard) => Promise<Link>,
    onWarning: (warning: string) => void,
  ) {
    this.#calls = new LinkCalls(link);
    this.rpc = createClient(A2AService, this.#calls);
    this.#resolver = resolver;
    this.#relink = relink;
    this.#onWarning = onWarning;
  }

  get current(): Link {
    return this.#calls.current;
  }

  /**
   * Asks for the card again when a failure looks as if it had changed. Whatever other card there is then is in use.
   *
   * @param used the link that the call failed on
   * @returns what has changed
   * @throws `failure` when it is about something else, or nothing has changed that could explain it; CardDriftError when the
   *   new card will not do, CardRefusedError or UntrustedOutputError when it is refused
   */
  async adoptNewCard(failure: unknown, used: Link, signal: AbortSignal): Promise<readonly string[]> {
    if (!mayComeOfChangedCard(failure)) {
      throw failure;
    }
    if (used === this.current) {
      await this.#adopt((await this.#findNewCard(signal)) ?? used.resolved, used.resolved);
    } // otherwise another call was faster
    const changes = describeChanges(used.resolved.card, this.current.resolved.card);
    if (changes.length === 0) {
      throw failure;
    }
    return changes;
  }

  /**
   * Looks whether there is another card when the known one is out of date by its cache headers (requirement L-6). When it
   * cannot be asked for, or is none, the known one stays while it is trusted. When it is refused, neither of the two is used:
   * somebody may be in between, or the agent is not what it was.
   *
   * @throws CardDriftError when there is another one that will not do; CardRefusedError or UntrustedOutputError when it is
   *   refused
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
   * Has another card used instead of the one that was when it was asked for. One at a time: whoever comes with the same card
   * meanwhile waits for it.
   */
  async #adopt(resolved: ResolvedCard, before: ResolvedCard): Promise<void> {
    while (this.#adoption !== undefined && this.#adoption.resolved !== resolved) {
      await this.#adoption.done.catch(() => {}); // those are told who brought it
    }
    if (resolved === before || before !== this.current.resolved) {
      return;
    }
    this.#adoption ??= { resolved, done: this.#replace(resolved) };
    await this.#adoption.done;
  }

  async #replace(resolved: ResolvedCard): Promise<void> {
    const sentences = describeChanges(this.current.resolved.card, resolved.card);
    try {
      this.#calls.replace(await this.#relink(resolved));
    } catch (error) {
      throw this.driftError(sentences, error, resolved.card);
    } finally {
      this.#adoption = undefined;
    }
    if (sentences.length > 0) {
      this.#onWarning(`The agent's card has changed: ${sentences.join(" ")}`);
    }
    for (const warning of resolved.warnings) {
      this.#onWarning(warning);
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#calls.close();
  }

  /** The card as the agent has it now; undefined when it has none. */
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

  /** What a call that failed with the new card is told. */
  driftError(
    changes: readonly string[],
    cause: unknown,
    card: AgentCard = this.current.resolved.card,
  ): CardDriftError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new CardDriftError(
      `The agent's card has changed, and the call does not fit it any more: ${[...changes, reason].join(" ")}`,
      changes,
      card,
      { hint: "Connect again, and adapt the call to the new card.", cause },
    );
  }

  /** A task that was rejected for want of its skill, when the card has changed meanwhile. */
  async explainRejection(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (!(error instanceof TaskRejectedError) || error.reason !== "unsupported-skill") {
      return error;
    }
    const found = await this.#findNewCard(signal).catch(() => undefined); // the next submission is told
    const changes = found === undefined ? [] : describeChanges(this.current.resolved.card, found.card);
    return changes.length === 0 ? error : this.driftError(changes, error, found?.card);
  }
}

/** Whether there was no card to be judged: it could not be had, or what was there is none. */
function isNoCard(error: unknown): boolean {
  return error instanceof CardNotFoundError || error instanceof CardInvalidError;
}

/** Failures of a submission that a changed card explains. None of them has left a task behind. */
function mayComeOfChangedCard(error: unknown): boolean {
  if (error instanceof RequirementError || error instanceof InputModeError) {
    return true;
  }
  const reason = findA2AError(error)?.reason;
  return (
    reason === "CONTENT_TYPE_NOT_SUPPORTED" ||
    reason === "VERSION_NOT_SUPPORTED" ||
    reason === "EXTENSION_SUPPORT_REQUIRED" ||
    (error instanceof ConnectError && error.code === Code.Unimplemented)
  );
}
