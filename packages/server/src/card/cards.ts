import { toOlderCard } from "@a2a-connect/bindings/server";
import type { Principal } from "@a2a-connect/core";
import { type ForwardedUrlSource, RecentMap } from "@a2a-connect/core/internal";
import { type AgentCapabilities, AgentCapabilitiesSchema, type AgentCard } from "@a2a-connect/proto";
import { canonicalCard } from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { type AgentDefinition, type CardDefinition, defineAgent } from "../agent/agent-definition.ts";
import { withCard } from "../agent/given-card.ts";
import { withServedCode } from "../agent/served-agent.ts";
import type { CardSwitches } from "../agent/skill-switches.ts";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { BaseUrls } from "../reach/base-urls.ts";
import { omittedTenant } from "./interfaces.ts";
import { Publication } from "./publication.ts";
import { renderCard, type ServerFacts, unannouncedChanges } from "./render-card.ts";
import type { Document } from "./serve-document.ts";
import { type CardSigning, openSigningKeys } from "./signing-keys.ts";
import { SigningQueue } from "./signing-queue.ts";

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
  /** What the caller gets to see; undefined: nothing is configured for it (requirement A-61). */
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
  /** The text of a card as it is served; of a signed one, the text that was signed. */
  readonly write: (card: AgentCard) => string;
  readonly skills: CardSwitches;
  readonly engine: Pick<TaskEngine, "useCard">;
  readonly clock: Pick<Clock, "now" | "ticks" | "schedule">;
  readonly log: (record: LogRecord) => void;
}

/** The form in which the public card is served: as it is, or as callers of A2A 0.3 read it. */
export type CardForm = "current" | "older";

/** The public card at one base URL. */
interface PublicCard {
  readonly baseUrl: string;
  /** For those who come through a mount. */
  readonly mounted: boolean;
  /** Without signatures, and after which change of the cards it was made. */
  rendered?: { readonly revision: number; readonly card: AgentCard } | undefined;
  readonly forms: Readonly<Record<CardForm, Publication>>;
}

/** How long a card that is being signed is waited for where an older one is there, in milliseconds. */
const patienceMs = 1_000;

/** What the log says of a form that cannot be signed. */
const failures: Readonly<Record<CardForm, string>> = {
  current: "the agent card could not be signed",
  older: "the agent card in the form of A2A 0.3 could not be signed",
};

/**
 * The cards of one server as callers get them: canonical bytes, signed where signing is configured; made again only when
 * something has changed. A card that cannot be signed is not served: the last one that these keys have signed for the same base
 * URL stays, also while signing takes its time, or there is none for the moment.
 */
export class Cards implements AgentCards {
  /** What the card declares. Whether something is on does not change while the server runs; the extensions may. */
  capabilities: AgentCapabilities;
  readonly #options: CardOptions;
  readonly #elsewhere: RecentMap<string, PublicCard>;
  #agent: AgentDefinition;
  #own: PublicCard;
  /** Raised by every change. */
  #revision = 0;
  /** Undefined: cards are not signed. Other keys have another. */
  #signer: SigningQueue | undefined;
  #rotation: Promise<void> = Promise.resolve();

  constructor(options: CardOptions) {
    this.#options = options;
    this.#elsewhere = new RecentMap(options.baseUrls.maxKept);
    this.#agent = options.agent;
    this.#own = this.#create(options.baseUrls.own, false);
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
    this.#revision += 1;
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
    return this.#render(this.#cardAt(reached));
  }

  /**
   * The public card as it is served, in one of its forms: the new one, or the one before it when the new one takes longer to
   * sign than a second.
   *
   * @param signal aborts when its caller is gone
   * @throws ConnectError Unavailable when it has to be signed and cannot be
   */
  async findDocument(form: CardForm, reached: ForwardedUrlSource, signal?: AbortSignal): Promise<Document> {
    const known = this.#cardAt(reached);
    const card = this.#render(known);
    const document = known.forms[form].find(card, () => this.#write(form, card, known));
    try {
      return await (this.#signer?.wait(document, signal) ?? document);
    } catch (error) {
      const { last } = this.#cardAt(reached).forms[form]; // other keys may sign by now
      if (last === undefined) {
        throw error;
      }
      return last;
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
    reached: ForwardedUrlSource,
    signal?: AbortSignal,
  ): Promise<AgentCard | undefined> {
    const definition = this.#options.extended?.find(principal);
    if (definition === undefined) {
      return undefined;
    }
    const { baseUrl, mounted } = this.#cardAt(reached);
    const card = renderCard(this.#agent, this.#factsFor(mounted), baseUrl, definition);
    const signer = this.#signer;
    if (signer === undefined) {
      return card;
    }
    return signer.wait(signer.signOnce(card, baseUrl, "an extended agent card could not be signed"), signal);
  }

  async #rotate(signing: CardSigning): Promise<void> {
    const { clock, facts } = this.#options;
    const keys = await openSigningKeys(signing, facts.place?.path ?? "");
    keys.keySetAt(clock.now()); // throws where keys do not fit together
    const signer = new SigningQueue(keys, this.#options);
    const known = this.#cardAt({});
    const card = this.#render(known);
    const signed = await signer.signNow(({ sign }) => sign(card, known.baseUrl));
    const next = this.#create(known.baseUrl, known.mounted);
    await next.forms.current.replace(known.forms.current, card, this.#options.write(signed));
    this.#signer = signer;
    // What other keys have signed is not served any more, nor what they are signing now.
    this.#elsewhere.clear();
    next.rendered = known.rendered;
    this.#own = next;
  }

  #factsFor(mounted: boolean): ServerFacts {
    return { ...this.#options.facts, disabledSkills: this.#options.skills.disabled, mounted };
  }

  #create(baseUrl: string, mounted: boolean): PublicCard {
    const options = { contentType: "application/json", clock: this.#options.clock, patienceMs };
    return {
      baseUrl,
      mounted,
      forms: { current: new Publication(options), older: new Publication(options) },
    };
  }

  #cardAt(reached: ForwardedUrlSource): PublicCard {
    const { baseUrls } = this.#options;
    const baseUrl = baseUrls.find(reached, this.signed);
    const mounted = reached.mount !== undefined;
    if (baseUrl === baseUrls.own && !mounted) {
      this.#own = baseUrl === this.#own.baseUrl ? this.#own : this.#create(baseUrl, mounted);
      return this.#own;
    }
    const key = mounted ? `mounted ${baseUrl}` : baseUrl;
    const known = this.#elsewhere.get(key) ?? this.#create(baseUrl, mounted);
    this.#elsewhere.set(key, known);
    return known;
  }

  #render(known: PublicCard): AgentCard {
    if (known.rendered?.revision !== this.#revision) {
      const card = renderCard(this.#agent, this.#factsFor(known.mounted), known.baseUrl);
      known.rendered = { revision: this.#revision, card };
    }
    return known.rendered.card;
  }

  /** The text of a form of a card, with a signature over that form where cards are signed. */
  async #write(form: CardForm, card: AgentCard, { baseUrl, forms }: PublicCard): Promise<string> {
    const { write, facts } = this.#options;
    const stays =
      forms[form].last === undefined ? "there is none until it can be" : "the last signed one stays";
    const failure = `${failures[form]}; ${stays}`;
    if (form === "current") {
      return write((await this.#signer?.sign(({ sign }) => sign(card, baseUrl), failure)) ?? card);
    }
    const json = JSON.parse(canonicalCard(card)) as JsonObject; // a card is an object
    const older = toOlderCard(json, omittedTenant(facts.place));
    const signed = await this.#signer?.sign(({ signOlder }) => signOlder(older, baseUrl), failure);
    return JSON.stringify(signed ?? older);
  }
}
