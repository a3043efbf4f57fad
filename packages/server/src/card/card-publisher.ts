import type { Principal } from "@a2a-connect/core";
import type { AgentCard } from "@a2a-connect/proto";
import { canonicalCard, canonicalSignedCard } from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import type { CardSigning } from "./card-signing.ts";
import type { CardSource } from "./card-source.ts";
import { createDocument, type Document } from "./document.ts";
import type { ForwardedHosts } from "./forwarded-hosts.ts";
import { type OpenSigning, openSigning } from "./open-signing.ts";
import { RecentMap } from "./recent-map.ts";
import { SigningAttempts } from "./signing-attempts.ts";
import { waitAtMost } from "./wait-at-most.ts";

/** What publishing works with. */
export interface CardPublisherOptions {
  readonly cards: CardSource;
  readonly clock: Pick<Clock, "now" | "ticks" | "schedule">;
  readonly log: (record: LogRecord) => void;
  /** Which of the URLs that proxies tell may stand in a card. */
  readonly forwardedHosts: ForwardedHosts;
  /** Path of the agent below the base URL, "" when it is alone. */
  readonly path: string;
}

/** One card as it is served. */
interface Rendering {
  readonly revision: number;
  readonly baseUrl: string;
  /** Undefined: it was not to be signed. */
  readonly signing: OpenSigning | undefined;
  readonly document: Document;
}

/** What is served at one base URL. */
interface Shelf {
  rendering: Rendering | undefined;
  pending: PendingRendering | undefined;
}

/** One that is being made, for all who ask meanwhile. */
interface PendingRendering extends Pick<Rendering, "revision" | "signing"> {
  /** When it was begun, in ticks of the clock. */
  readonly since: number;
  readonly done: Promise<Document>;
}

/** How long a card that is being signed is waited for where an older one is there, in milliseconds. */
const patienceMs = 1_000;

/** How many signed extended cards are kept: those asked for last. */
const maxExtendedCards = 64;

/**
 * Makes of the cards what callers get: canonical bytes, signed where signing is configured; again only when something has
 * changed. A card that cannot be signed is not served: the last one that these keys have signed for the same base URL stays,
 * also while signing takes its time, or there is none for the moment.
 */
export class CardPublisher {
  readonly #options: CardPublisherOptions;
  readonly #attempts: SigningAttempts;
  readonly #own: Shelf = emptyShelf();
  readonly #elsewhere: RecentMap<string, Shelf>;
  readonly #extended = new RecentMap<string, Promise<AgentCard>>(maxExtendedCards);
  #signing: OpenSigning | undefined;
  #keySet: { readonly of: OpenSigning; readonly until: number; readonly document: Document } | undefined;
  #rotation: Promise<void> = Promise.resolve();

  constructor(options: CardPublisherOptions) {
    this.#options = options;
    this.#elsewhere = new RecentMap(options.cards.maxForwardedUrls);
    this.#attempts = new SigningAttempts(options);
  }

  /** Whether anonymous callers may have the extended card. */
  get extendedCardIsOpen(): boolean {
    return this.#options.cards.extendedCardIsOpen;
  }

  /** Whether cards are signed. */
  get signed(): boolean {
    return this.#signing !== undefined;
  }

  /**
   * Signs all cards this way from now on, once it has been seen to work. What was signed otherwise is not served any more.
   *
   * @throws Error naming the key that cannot be used; everything stays as it was
   */
  useSigning(signing: CardSigning): Promise<void> {
    const turn = this.#rotation.then(() => this.#rotate(signing));
    this.#rotation = turn.catch(() => undefined); // one that failed does not keep the next from being tried
    return turn;
  }

  /** The public card, without signatures, for a caller who has reached the server by that URL. */
  cardFor(forwardedUrl: string | undefined): AgentCard {
    return this.#options.cards.cardAt(this.#baseUrlFor(forwardedUrl));
  }

  /**
   * The public card as it is served: the new one, or the one before it when the new one takes longer to sign than a second.
   *
   * @param signal aborts when its caller is gone
   * @throws ConnectError Unavailable when it has to be signed and cannot be
   */
  async findDocument(forwardedUrl: string | undefined, signal?: AbortSignal): Promise<Document> {
    const { cards, clock } = this.#options;
    const { revision } = cards;
    const signing = this.#signing;
    const baseUrl = this.#baseUrlFor(forwardedUrl);
    const shelf = this.#shelfOf(baseUrl);
    if (shelf.rendering?.revision === revision && shelf.rendering.signing === signing) {
      return shelf.rendering.document;
    }
    const { done, since } = this.#renderOnce(shelf, baseUrl, revision, signing);
    const hasOlder = this.#findOlder(shelf, baseUrl) !== undefined;
    const limitMs = hasOlder ? since + patienceMs - clock.ticks() : undefined;
    try {
      return await waitAtMost(done, { clock, limitMs, signal, late: () => this.#attempts.unavailable() });
    } catch (error) {
      const older = this.#findOlder(shelf, baseUrl);
      if (older === undefined) {
        throw error;
      }
      return older;
    }
  }

  /**
   * The extended card for a caller, signed; undefined when there is none.
   *
   * @param signal aborts when the caller is gone
   * @throws ConnectError Unavailable when it has to be signed and cannot be
   */
  async findExtended(
    principal: Principal,
    forwardedUrl: string | undefined,
    signal?: AbortSignal,
  ): Promise<AgentCard | undefined> {
    const baseUrl = this.#baseUrlFor(forwardedUrl);
    const card = this.#options.cards.findExtended(principal, baseUrl);
    if (card === undefined || this.#signing === undefined) {
      return card;
    }
    // Callers who see the same get the same signatures.
    const key = JSON.stringify([baseUrl, canonicalCard(card)]);
    const signed = this.#extended.get(key) ?? this.#signExtended(key, card, baseUrl, this.#signing);
    const { clock } = this.#options;
    return waitAtMost(signed, {
      clock,
      limitMs: undefined,
      signal,
      late: () => this.#attempts.unavailable(),
    });
  }

  /** The public keys as they are now; undefined when nothing is signed. */
  get keySet(): PublishedKeySet | undefined {
    return this.#signing?.keySetAt(this.#options.clock.now()).keySet;
  }

  /** The public keys as they are served; undefined when nothing is signed. */
  async findKeySet(): Promise<Document | undefined> {
    const signing = this.#signing;
    const now = this.#options.clock.now();
    if (signing === undefined || (this.#keySet?.of === signing && now < this.#keySet.until)) {
      return signing && this.#keySet?.document;
    }
    const { keySet, until } = signing.keySetAt(now);
    const text = JSON.stringify(keySet);
    const document = await createDocument(text, "application/jwk-set+json", now, this.#keySet?.document);
    this.#keySet = { of: signing, until, document };
    return document;
  }

  async #rotate(given: CardSigning): Promise<void> {
    const { cards, clock, path } = this.#options;
    const signing = await openSigning(given, path);
    signing.keySetAt(clock.now());
    const { revision, baseUrl, card } = cards;
    const signed = await this.#attempts.signInTime(signing, card, baseUrl);
    const document = await createDocument(...toDocument(signed), clock.now(), this.#own.rendering?.document);
    this.#signing = signing;
    this.#extended.clear();
    this.#own.rendering = { revision, baseUrl, signing, document };
  }

  #baseUrlFor(forwardedUrl: string | undefined): string {
    const { cards, forwardedHosts } = this.#options;
    const isTaken = forwardedUrl !== undefined && forwardedHosts.accepts(forwardedUrl, this.signed);
    return isTaken ? forwardedUrl : cards.baseUrl;
  }

  #shelfOf(baseUrl: string): Shelf {
    if (baseUrl === this.#options.cards.baseUrl) {
      return this.#own;
    }
    const shelf = this.#elsewhere.get(baseUrl) ?? emptyShelf();
    this.#elsewhere.set(baseUrl, shelf);
    return shelf;
  }

  /** The last card for that URL that today's keys have signed. */
  #findOlder({ rendering }: Shelf, baseUrl: string): Document | undefined {
    const isSigned = rendering?.signing !== undefined && rendering.signing === this.#signing;
    return isSigned && rendering.baseUrl === baseUrl ? rendering.document : undefined;
  }

  #renderOnce(
    shelf: Shelf,
    baseUrl: string,
    revision: number,
    signing: OpenSigning | undefined,
  ): PendingRendering {
    if (shelf.pending?.revision === revision && shelf.pending.signing === signing) {
      return shelf.pending;
    }
    // Afterwards it stands in `rendering`, or has failed and is tried again.
    const done = this.#render(shelf, baseUrl, revision, signing).finally(() => {
      if (shelf.pending === pending) {
        shelf.pending = undefined;
      }
    });
    const pending: PendingRendering = { revision, signing, since: this.#options.clock.ticks(), done };
    shelf.pending = pending;
    return pending;
  }

  async #render(
    shelf: Shelf,
    baseUrl: string,
    revision: number,
    signing: OpenSigning | undefined,
  ): Promise<Document> {
    const { cards, clock } = this.#options;
    const card = cards.cardAt(baseUrl);
    const signed =
      signing === undefined
        ? card
        : await this.#attempts.sign(signing, card, baseUrl, this.#failureAt(shelf, baseUrl));
    const document = await createDocument(...toDocument(signed), clock.now(), shelf.rendering?.document);
    // Something newer may have been quicker.
    if (this.#signing === signing && (shelf.rendering?.revision ?? 0) <= revision) {
      shelf.rendering = { revision, baseUrl, signing, document };
    }
    return document;
  }

  /** What the log says when a public card cannot be signed. */
  #failureAt(shelf: Shelf, baseUrl: string): string {
    const isLeft = this.#findOlder(shelf, baseUrl) !== undefined;
    return `the agent card could not be signed; ${isLeft ? "the last signed one stays" : "there is none until it can be"}`;
  }

  #signExtended(key: string, card: AgentCard, baseUrl: string, signing: OpenSigning): Promise<AgentCard> {
    const signed = this.#attempts.sign(signing, card, baseUrl, "an extended agent card could not be signed");
    this.#extended.set(key, signed);
    signed.catch(() => {
      // It may have been asked for again since, with other keys.
      if (this.#extended.get(key) === signed) {
        this.#extended.delete(key);
      }
    });
    return signed;
  }
}

function emptyShelf(): Shelf {
  return { rendering: undefined, pending: undefined };
}

function toDocument(card: AgentCard): [text: string, contentType: string] {
  return [canonicalSignedCard(card), "application/json"];
}
