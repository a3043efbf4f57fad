import { findA2AError } from "@a2a-connect/core";
import type { A2AService, AgentCard, AgentInterface } from "@a2a-connect/proto";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
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

/** One card, and the interface of it that is used. */
export interface Link {
  readonly resolved: ResolvedCard;
  readonly rpc: Client<typeof A2AService>;
  /** In use now: after another one could not be reached it is the next. */
  readonly interface: () => { readonly interface: AgentInterface; readonly protocolVersion: string };
  readonly honoursKeys: boolean;
  close(): void;
}

interface CardChange {
  readonly resolved: ResolvedCard;
  readonly sentences: readonly string[];
}

/** The link in use, and how another one takes its place when the agent's card has changed (drift). */
export class AgentLink {
  readonly #resolver: CardResolver;
  readonly #relink: (resolved: ResolvedCard) => Promise<Link>;
  readonly #onWarning: (warning: string) => void;
  /** Calls under way may still use an older link. */
  readonly #replaced: Link[] = [];
  #link: Link;

  /** @param relink makes a link of another card; checks it first */
  constructor(
    link: Link,
    resolver: CardResolver,
    relink: (resolved: ResolvedCard) => Promise<Link>,
    onWarning: (warning: string) => void,
  ) {
    this.#link = link;
    this.#resolver = resolver;
    this.#relink = relink;
    this.#onWarning = onWarning;
  }

  get current(): Link {
    return this.#link;
  }

  /**
   * Asks for the card again when a failure looks as if it had changed.
   *
   * @param used the link that the call failed on
   * @returns what has changed; the new card is in use then
   * @throws `failure` when it is about something else, or the card is the same; CardDriftError when the new one will not do,
   *   CardRefusedError or UntrustedOutputError when it is refused
   */
  async adoptNewCard(failure: unknown, used: Link, signal: AbortSignal): Promise<readonly string[]> {
    if (!smellsOfDrift(failure)) {
      throw failure;
    }
    if (used !== this.#link) {
      return describeChanges(used.resolved.card, this.#link.resolved.card); // another call was faster
    }
    const changes = await this.#findChanges(signal);
    if (changes === undefined) {
      throw failure;
    }
    await this.#replace(changes);
    return changes.sentences;
  }

  async #replace({ resolved, sentences }: CardChange): Promise<void> {
    try {
      const link = await this.#relink(resolved);
      this.#replaced.push(this.#link);
      this.#link = link;
    } catch (error) {
      throw this.driftError(sentences, error, resolved.card);
    }
    this.#onWarning(`The agent's card has changed: ${sentences.join(" ")}`);
  }

  /**
   * Looks whether there is another card when the known one is out of date by its cache headers (requirement L-6). When it
   * cannot be asked for, or is none, the known one stays. When it is refused, neither of the two is used: somebody may be in
   * between, or the agent is not what it was.
   *
   * @throws CardDriftError when there is another one that will not do; CardRefusedError or UntrustedOutputError when it is
   *   refused
   */
  async renew(signal: AbortSignal): Promise<void> {
    const before = this.#link.resolved;
    const resolved = await this.#resolver.resolve(signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!isNoCard(error)) {
        throw error;
      }
      this.#onWarning(`The agent's card could not be renewed: ${String(error)}`);
      return before;
    });
    if (resolved !== before && before === this.#link.resolved) {
      const sentences = describeChanges(before.card, resolved.card);
      if (sentences.length > 0) {
        await this.#replace({ resolved, sentences });
      }
    }
  }

  /** Ends all connections. */
  close(): void {
    for (const link of [...this.#replaced, this.#link]) {
      link.close();
    }
  }

  async #findChanges(signal: AbortSignal): Promise<CardChange | undefined> {
    const resolved = await this.#resolver.refresh(signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!isNoCard(error)) {
        throw error;
      }
      return undefined;
    });
    const sentences = resolved === undefined ? [] : describeChanges(this.#link.resolved.card, resolved.card);
    return resolved === undefined || sentences.length === 0 ? undefined : { resolved, sentences };
  }

  /** What a call that failed with the new card is told. */
  driftError(
    changes: readonly string[],
    cause: unknown,
    card: AgentCard = this.#link.resolved.card,
  ): CardDriftError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new CardDriftError(
      `The agent's card has changed, and the call does not fit it any more: ${changes.join(" ")} ${reason}`,
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
    const changes = await this.#findChanges(signal).catch(() => undefined); // the next submission is told
    return changes === undefined ? error : this.driftError(changes.sentences, error, changes.resolved.card);
  }
}

/** Whether there was no card to be judged: it could not be had, or what was there is none. */
function isNoCard(error: unknown): boolean {
  return error instanceof CardNotFoundError || error instanceof CardInvalidError;
}

/** Failures of a submission that a changed card explains. None of them has left a task behind. */
function smellsOfDrift(error: unknown): boolean {
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
