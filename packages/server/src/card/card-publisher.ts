import type { Principal } from "@a2a-connect/core";
import type { AgentCard } from "@a2a-connect/proto";
import { canonicalCard, canonicalSignedCard } from "@a2a-connect/signing";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import type { CardSigning } from "./card-signing.ts";
import { type CardSource, maxForwardedUrls } from "./card-source.ts";
import { createDocument, type Document } from "./document.ts";
import type { ForwardedHosts } from "./forwarded-hosts.ts";
import { type OpenSigning, openSigning } from "./open-signing.ts";
import { RecentMap } from "./recent-map.ts";

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
  pending: (Pick<Rendering, "revision" | "signing"> & { readonly done: Promise<Document> }) | undefined;
}

/** How long signing one card may take, in milliseconds. */
const signTimeoutMs = 10_000;

/** How long after a failure signing is not tried again, in seconds. */
export const signRetrySeconds = 5;

/** How many signed extended cards are kept: those asked for last. */
const maxExtendedCards = 64;

/**
 * Makes of the cards what callers get: canonical bytes, signed where signing is configured; again only when something has
 * changed. A card that cannot be signed is not served: the last one that could be stays, or there is none for the moment.
 */
export class CardPublisher {
  readonly #options: CardPublisherOptions;
  readonly #own: Shelf = emptyShelf();
  readonly #elsewhere = new RecentMap<string, Shelf>(maxForwardedUrls);
  readonly #extended = new RecentMap<string, Promise<AgentCard>>(maxExtendedCards);
  #signing: OpenSigning | undefined;
  #keySet: { readonly of: OpenSigning; readonly until: number; readonly document: Document } | undefined;
  #failure: { readonly of: OpenSigning; readonly ticks: number } | undefined;
  #rotation: Promise<void> = Promise.resolve();

  constructor(options: CardPublisherOptions) {
    this.#options = options;
  }

  /** Whether anonymous callers may have the extended card. */
  get extendedCardIsOpen(): boolean {
    return this.#options.cards.extendedCardIsOpen;
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

  /** Whether what a proxy says makes a difference here. */
  dependsOn(forwardedUrl: string | undefined): boolean {
    return this.#options.forwardedHosts.accepts(forwardedUrl, this.#signing !== undefined);
  }

  /** The public card as it is served. @throws ConnectError Unavailable when it has to be signed and cannot be */
  async findDocument(forwardedUrl: string | undefined): Promise<Document> {
    const { revision } = this.#options.cards;
    const signing = this.#signing;
    const baseUrl = this.#baseUrlFor(forwardedUrl);
    const shelf = this.#shelfOf(baseUrl);
    if (shelf.rendering?.revision === revision && shelf.rendering.signing === signing) {
      return shelf.rendering.document;
    }
    let { pending } = shelf;
    if (pending?.revision !== revision || pending.signing !== signing) {
      pending = { revision, signing, done: this.#render(shelf, baseUrl, revision, signing) };
      shelf.pending = pending;
    }
    try {
      return await pending.done;
    } catch (error) {
      const last = shelf.rendering;
      if (last?.signing !== undefined && last.signing === this.#signing && last.baseUrl === baseUrl) {
        return last.document;
      }
      throw error;
    } finally {
      // It stands in `rendering` now, or has failed and is tried again.
      if (shelf.pending === pending) {
        shelf.pending = undefined;
      }
    }
  }

  /** The extended card for a caller, signed; undefined when there is none. @throws ConnectError Unavailable */
  async findExtended(principal: Principal, forwardedUrl: string | undefined): Promise<AgentCard | undefined> {
    const baseUrl = this.#baseUrlFor(forwardedUrl);
    const card = this.#options.cards.findExtended(principal, baseUrl);
    if (card === undefined || this.#signing === undefined) {
      return card;
    }
    // Callers who see the same get the same signatures.
    const key = JSON.stringify([baseUrl, canonicalCard(card)]);
    let signed = this.#extended.get(key);
    if (signed === undefined) {
      signed = this.#sign(card, baseUrl, this.#signing);
      this.#extended.set(key, signed);
      signed.catch(() => this.#extended.delete(key));
    }
    return signed;
  }

  /** The public keys; undefined when nothing is signed. */
  async findKeySet(): Promise<Document | undefined> {
    const signing = this.#signing;
    const now = this.#options.clock.now();
    if (signing === undefined || (this.#keySet?.of === signing && now < this.#keySet.until)) {
      return signing && this.#keySet?.document;
    }
    const { text, until } = signing.keySetAt(now);
    const document = await createDocument(text, "application/jwk-set+json", now, this.#keySet?.document);
    this.#keySet = { of: signing, until, document };
    return document;
  }

  async #rotate(given: CardSigning): Promise<void> {
    const { cards, clock, path } = this.#options;
    const signing = await openSigning(given, path);
    signing.keySetAt(clock.now());
    const { revision, baseUrl, card } = cards;
    const signed = await this.#inTime(signing.sign(card, baseUrl));
    const document = await createDocument(...toDocument(signed), clock.now(), this.#own.rendering?.document);
    this.#signing = signing;
    this.#extended.clear();
    this.#own.rendering = { revision, baseUrl, signing, document };
  }

  #baseUrlFor(forwardedUrl: string | undefined): string {
    const { cards } = this.#options;
    return forwardedUrl !== undefined && this.dependsOn(forwardedUrl) ? forwardedUrl : cards.baseUrl;
  }

  #shelfOf(baseUrl: string): Shelf {
    if (baseUrl === this.#options.cards.baseUrl) {
      return this.#own;
    }
    const shelf = this.#elsewhere.get(baseUrl) ?? emptyShelf();
    this.#elsewhere.set(baseUrl, shelf);
    return shelf;
  }

  async #render(
    shelf: Shelf,
    baseUrl: string,
    revision: number,
    signing: OpenSigning | undefined,
  ): Promise<Document> {
    const { cards, clock } = this.#options;
    const card = cards.cardAt(baseUrl);
    const signed = signing === undefined ? card : await this.#sign(card, baseUrl, signing);
    const document = await createDocument(...toDocument(signed), clock.now(), shelf.rendering?.document);
    // Something newer may have been quicker.
    if (this.#signing === signing && (shelf.rendering?.revision ?? 0) <= revision) {
      shelf.rendering = { revision, baseUrl, signing, document };
    }
    return document;
  }

  async #sign(card: AgentCard, baseUrl: string, signing: OpenSigning): Promise<AgentCard> {
    const { clock, log } = this.#options;
    const failure = this.#failure?.of === signing ? this.#failure : undefined;
    if (failure !== undefined && clock.ticks() - failure.ticks < signRetrySeconds * 1_000) {
      throw unavailable();
    }
    try {
      return await this.#inTime(signing.sign(card, baseUrl));
    } catch (error) {
      this.#failure = { of: signing, ticks: clock.ticks() };
      log({
        level: "error",
        message: "the agent card could not be signed; the last signed one stays",
        error,
      });
      throw unavailable();
    }
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const cancel = this.#options.clock.schedule(
      signTimeoutMs,
      () => late.reject(new Error(`signing a card took longer than ${signTimeoutMs} ms`)),
      { background: true },
    );
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      cancel();
    }
  }
}

function emptyShelf(): Shelf {
  return { rendering: undefined, pending: undefined };
}

function toDocument(card: AgentCard): [text: string, contentType: string] {
  return [canonicalSignedCard(card), "application/json"];
}

function unavailable(): ConnectError {
  return new ConnectError("the agent card cannot be signed at the moment; try again later", Code.Unavailable);
}
