import { mergeOlderCard, toOlderCard } from "@a2a-connect/bindings/server";
import type { Principal } from "@a2a-connect/core";
import { type CallRuntime, type ForwardedUrlSource, RecentMap } from "@a2a-connect/core/internal";
import { type AgentCapabilities, AgentCapabilitiesSchema, type AgentCard } from "@a2a-connect/proto";
import { canonicalCard, canonicalSignedCard } from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { type AgentDefinition, type CardDefinition, defineAgent } from "../agent/agent-definition.ts";
import { withCard } from "../agent/given-card.ts";
import { withServedCode } from "../agent/served-agent.ts";
import type { CardSwitches } from "../agent/skill-switches.ts";
import { MadeOnce } from "../documents/made-once.ts";
import { createDocument, type Document } from "../documents/serve-document.ts";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import { weighMessage } from "../engine/memory-weight.ts";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { BaseUrls } from "../reach/base-urls.ts";
import { renderCard, type ServerFacts, unannouncedChanges } from "./render-card.ts";
import { type CardSigning, openSigningKeys } from "./signing-keys.ts";
import { SigningQueue, within } from "./signing-queue.ts";

/** The cards of an agent while it is served. */
export interface AgentCards {
  /** The public card as it is now, without its signatures. The same object until something changes. */
  readonly card: AgentCard;
  /** The keys that verify them, as they stand in the key set now; undefined when nothing is signed. */
  readonly keySet: PublishedKeySet | undefined;
  /** Whether the cards are signed as they are served. */
  readonly signed: boolean;
  /**
   * Says anew what the agent is: the card, its version and its ETag change at once, and new tasks get its skills and their
   * capacity. Code stays: a skill keeps what it was started with, and one that is new is run by the agent's own code. Tasks of a
   * skill that is gone go on as long as the process lives. Skills that were switched off stay off. The definition is copied:
   * changing it afterwards changes nothing.
   *
   * @throws Error as `defineAgent`, when a skill comes with new code, or when the card has no canonical form; everything stays as
   *   it was
   */
  update(definition: CardDefinition): void;
  /**
   * Signs with other keys from now on. Resolves when a card has been signed with them; those that were signed before are not
   * served any more, so list the old keys as retired for as long as callers may keep such cards.
   *
   * @throws Error (as a rejection) naming the key that cannot be used; everything stays as it was
   */
  useSigning(signing: CardSigning): Promise<void>;
}

/** The card for callers that have said who they are (spec §3.1.11). */
export interface ExtendedCardOptions {
  /**
   * What the caller gets to see; undefined: nothing is configured for it (requirement A-61). A card is made once for each object, so
   * return the same one while it says the same, and another one when something has changed.
   */
  readonly find: (principal: Principal) => CardDefinition | undefined;
  /** Gives it to anonymous callers, too. Default false (requirement A-62). */
  readonly open?: boolean;
}

/** What the cards of a server are made from. */
export interface CardOptions {
  readonly agent: AgentDefinition;
  readonly facts: Omit<ServerFacts, "disabledSkills" | "mounted">;
  readonly baseUrls: BaseUrls;
  readonly extended: ExtendedCardOptions | undefined;
  /** Whether callers of A2A 0.3 can read it, too. */
  readonly olderVersions: boolean;
  readonly skills: CardSwitches;
  readonly engine: Pick<TaskEngine, "useCard">;
  readonly clock: Pick<Clock, "now" | "ticks" | "schedule">;
  readonly log: (record: LogRecord) => void;
}

/** The form in which a signed card is served: as it is, or as callers of A2A 0.3 read it. */
export type CardForm = "current" | "older";

/** How a caller has reached the server. */
interface Place {
  readonly baseUrl: string;
  /** Whether it came through a mount. */
  readonly mounted: boolean;
  /** What tells it from the others. */
  readonly key: string;
}

/** An extended card without signatures, and what it takes in memory. */
interface ExtendedCard {
  readonly card: AgentCard;
  readonly bytes: number;
}

/** Of how many definitions extended cards are kept, and for how many places each: those asked for last. */
const maxExtended = 16;
const maxExtendedPlaces = 4;

/** How long a card that is being signed is waited for where an older one is there, in milliseconds. */
const patienceMs = 1_000;

/**
 * The cards of one server as callers get them: canonical bytes, signed where signing is configured; made again only when
 * something has changed. A card that cannot be signed is not served: the last one that these keys have signed for the same base
 * URL stays, also while signing takes its time, or there is none for the moment.
 */
export class Cards implements AgentCards {
  /** What the card declares. Whether something is on does not change while the server runs; the extensions may. */
  capabilities: AgentCapabilities;
  readonly #options: CardOptions;
  /** Without signatures, for each place. Emptied by every change. */
  readonly #rendered: RecentMap<string, AgentCard>;
  /** By their definitions and places. Emptied by every change. */
  readonly #extended = new RecentMap<CardDefinition, RecentMap<string, ExtendedCard>>(maxExtended);
  readonly #documents: MadeOnce<Document>;
  /** What fails when a document takes longer than `patienceMs`, for all who wait for it. */
  readonly #patient = new WeakMap<Promise<Document>, Promise<Document>>();
  #agent: AgentDefinition;
  /** Undefined: cards are not signed. Other keys have another. */
  #signer: SigningQueue | undefined;
  #rotation: Promise<void> = Promise.resolve();

  constructor(options: CardOptions) {
    const maxPlaces = options.baseUrls.maxKept + 1;
    this.#options = options;
    this.#agent = options.agent;
    this.#rendered = new RecentMap(maxPlaces);
    this.#documents = new MadeOnce(2 * maxPlaces); // in both forms
    this.capabilities = this.#declare();
  }

  get card(): AgentCard {
    return this.cardFor({});
  }

  /** Whether anonymous callers may have the extended card. */
  get extendedCardIsOpen(): boolean {
    return this.#options.extended?.open ?? false;
  }

  get signed(): boolean {
    return this.#signer !== undefined;
  }

  get keySet(): PublishedKeySet | undefined {
    return this.#signer?.keys.keySetAt(this.#options.clock.now());
  }

  /** Says that the card is another one now, such as when a skill was switched off. */
  change(): void {
    this.#rendered.clear();
    this.#extended.clear();
    this.capabilities = this.#declare();
  }

  #declare(): AgentCapabilities {
    return this.card.capabilities ?? create(AgentCapabilitiesSchema);
  }

  update(definition: CardDefinition): void {
    const { agent, facts, baseUrls, engine, skills, log } = this.#options;
    const next = defineAgent(withCard(agent, withServedCode(definition, agent)));
    const allOn = { ...facts, disabledSkills: [], mounted: false };
    const after = renderCard(next, allOn, baseUrls.own);
    canonicalCard(after); // throws when it has none
    const changes = unannouncedChanges(renderCard(this.#agent, allOn, baseUrls.own), after);
    if (changes.length > 0) {
      log({
        level: "warn",
        message: `the card's ${changes.join(" and ")} changed, and its version is still ${after.version}: callers that keep it by version do not notice`,
      });
    }
    this.#agent = next;
    engine.useCard(next);
    skills.useCard(next);
    this.change();
  }

  useSigning(signing: CardSigning): Promise<void> {
    const turn = this.#rotation.then(() => this.#rotate(signing));
    this.#rotation = turn.catch(() => undefined); // one that failed does not keep the next from being tried
    return turn;
  }

  /** The public card, without signatures, for a caller who has reached the server in that way. */
  cardFor(reached: ForwardedUrlSource): AgentCard {
    return this.#render(this.#placeOf(reached));
  }

  /**
   * The public card as it is served: the new one, or the one before it when the new one takes longer to sign than a second.
   *
   * @param asked the form of a card that is signed; one that is not can be read by all
   * @param signal aborts when its caller is gone
   * @throws ConnectError Unavailable when it has to be signed and cannot be
   */
  async findDocument(asked: CardForm, reached: ForwardedUrlSource, signal?: AbortSignal): Promise<Document> {
    const signer = this.#signer;
    const form = signer === undefined ? "current" : asked;
    const place = this.#placeOf(reached);
    const key = `${form} ${place.key}`;
    const card = this.#render(place);
    const last = this.#documents.last(key);
    const document = this.#documents.find(key, card, async (before) =>
      this.#createDocument(await this.#write(form, card, place.baseUrl), before),
    );
    try {
      return await (signer?.wait(last === undefined ? document : this.#soon(document), signal) ?? document);
    } catch (error) {
      const now = this.#documents.last(key); // other keys may sign by now
      if (now === undefined) {
        throw error;
      }
      return now;
    }
  }

  /**
   * The extended card for a caller, signed; undefined when there is none.
   *
   * @param signal aborts when the caller is gone
   * @throws ConnectError Unavailable when it has to be signed and cannot be; CAPACITY when callers read too little of their answers
   */
  async findExtended(
    principal: Principal,
    runtime: CallRuntime,
    signal?: AbortSignal,
  ): Promise<AgentCard | undefined> {
    const definition = this.#options.extended?.find(principal);
    if (definition === undefined) return undefined;
    const place = this.#placeOf(runtime);
    const { card, bytes } = this.#renderExtended(definition, place);
    runtime.countUnread?.(bytes); // it waits to be signed and encoded
    const signer = this.#signer;
    return signer === undefined ? card : signer.wait(signer.signOnce(card, place.baseUrl), signal);
  }

  async #rotate(signing: CardSigning): Promise<void> {
    const { clock, facts } = this.#options;
    const keys = await openSigningKeys(signing, facts.place?.path ?? "");
    keys.keySetAt(clock.now()); // throws where keys do not fit together
    const signer = new SigningQueue(keys, this.#options);
    const place = this.#placeOf({});
    const card = this.#render(place);
    const signed = await signer.signNow(({ sign }) => sign(card, place.baseUrl));
    const key = `current ${place.key}`;
    const before = this.#documents.last(key);
    this.#signer = signer;
    // What other keys have signed is not served any more, nor what they are signing now; only its date goes on.
    this.#documents.clear();
    await this.#documents.find(key, card, () => this.#createDocument(canonicalSignedCard(signed), before));
  }

  #factsFor(mounted: boolean): ServerFacts {
    return { ...this.#options.facts, disabledSkills: this.#options.skills.disabled, mounted };
  }

  #createDocument(text: string, before: Document | undefined): Promise<Document> {
    return createDocument(text, "application/json", this.#options.clock.now(), before);
  }

  #soon(document: Promise<Document>): Promise<Document> {
    const { clock } = this.#options;
    const soon = this.#patient.get(document) ?? within(clock, patienceMs, document);
    this.#patient.set(document, soon);
    return soon;
  }

  #placeOf(reached: ForwardedUrlSource): Place {
    const baseUrl = this.#options.baseUrls.find(reached, this.signed);
    const mounted = reached.mount !== undefined;
    return { baseUrl, mounted, key: mounted ? `mounted ${baseUrl}` : baseUrl };
  }

  #render({ baseUrl, mounted, key }: Place): AgentCard {
    const card = this.#rendered.get(key) ?? renderCard(this.#agent, this.#factsFor(mounted), baseUrl);
    this.#rendered.set(key, card);
    return card;
  }

  #renderExtended(definition: CardDefinition, { baseUrl, mounted, key }: Place): ExtendedCard {
    const places = this.#extended.get(definition) ?? new RecentMap(maxExtendedPlaces);
    this.#extended.set(definition, places);
    const kept = places.get(key);
    if (kept !== undefined) return kept;
    const card = renderCard(this.#agent, this.#factsFor(mounted), baseUrl, definition);
    const extended = { card, bytes: weighMessage(card) };
    places.set(key, extended);
    return extended;
  }

  /**
   * The text of a card, with a signature over that form where cards are signed. Where they are not, the members of all versions
   * stand side by side.
   */
  async #write(form: CardForm, card: AgentCard, baseUrl: string): Promise<string> {
    const { olderVersions, facts } = this.#options;
    const { tenant = "", isDefault = false } = facts.place ?? {};
    const omittedTenant = isDefault ? tenant : ""; // callers of A2A 0.3 know no tenants
    const signer = this.#signer;
    if (signer === undefined) {
      return olderVersions
        ? JSON.stringify(mergeOlderCard(toJson(card), omittedTenant))
        : canonicalSignedCard(card);
    }
    if (form === "current") {
      return canonicalSignedCard(await signer.sign(({ sign }) => sign(card, baseUrl)));
    }
    const older = toOlderCard(toJson(card), omittedTenant);
    return JSON.stringify(await signer.sign(({ signOlder }) => signOlder(older, baseUrl)));
  }
}

function toJson(card: AgentCard): JsonObject {
  return JSON.parse(canonicalCard(card)) as JsonObject; // a card is an object
}
