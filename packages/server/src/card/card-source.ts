import type { Principal } from "@a2a-connect/core";
import {
  type AgentCapabilities,
  AgentCapabilitiesSchema,
  type AgentCard,
  type AgentExtension,
  type AgentInterface,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { AgentDefinition, CardDefinition } from "../agent/agent-definition.ts";
import { deriveCard, type ServedCapabilities } from "./derive-card.ts";
import { RecentMap } from "./recent-map.ts";
import { withoutSkills } from "./without-skills.ts";

/** The card for callers that have said who they are (spec §3.1.11). */
export interface ExtendedCardOptions {
  /** What the caller gets to see; undefined: nothing is configured for it (requirement A-61). */
  readonly find: (principal: Principal) => CardDefinition | undefined;
  /** Gives it to anonymous callers, too. Default false (requirement A-62). */
  readonly open?: boolean;
}

/** What the cards of a server are made from. */
export interface CardSourceOptions {
  readonly agent: AgentDefinition;
  readonly served: ServedCapabilities;
  /** The interfaces of a server that is reached at a URL, which has no trailing slash. */
  readonly interfacesAt: (baseUrl: string) => AgentInterface[];
  /** Where it is reached until it moves. */
  readonly baseUrl: string;
  readonly extended: ExtendedCardOptions | undefined;
  /** How many base URLs are listed: the cards of all are kept. Default 0. */
  readonly listedUrls?: number | undefined;
}

/** How many base URLs beside the server's own have their cards kept at least: those asked for last. */
export const maxForwardedUrls = 16;

/** The cards of one server as they are now, without signatures; derived again when something changes. */
export class CardSource {
  readonly #served: ServedCapabilities;
  readonly #interfacesAt: CardSourceOptions["interfacesAt"];
  readonly #extended: ExtendedCardOptions | undefined;
  /** How many base URLs beside the server's own have their cards kept: those asked for last. */
  readonly maxForwardedUrls: number;
  readonly #elsewhere: RecentMap<string, AgentCard>;
  #agent: AgentDefinition;
  #baseUrl: string;
  #disabledSkills: readonly string[] = [];
  #card: AgentCard;
  #revision = 0;

  constructor({ agent, served, interfacesAt, baseUrl, extended, listedUrls = 0 }: CardSourceOptions) {
    this.maxForwardedUrls = Math.max(maxForwardedUrls, listedUrls);
    this.#elsewhere = new RecentMap(this.maxForwardedUrls);
    this.#agent = agent;
    this.#served = served;
    this.#interfacesAt = interfacesAt;
    this.#baseUrl = baseUrl;
    this.#extended = extended;
    this.#card = this.#derive(agent, baseUrl);
  }

  /** The public card. The same object until something changes. */
  get card(): AgentCard {
    return this.#card;
  }

  /** Where the server is reached by those who come through no proxy. */
  get baseUrl(): string {
    return this.#baseUrl;
  }

  /** Raised by every change. */
  get revision(): number {
    return this.#revision;
  }

  /** What the card declares. Whether something is on does not change while the server runs; the extensions may. */
  get capabilities(): AgentCapabilities {
    return this.#card.capabilities ?? create(AgentCapabilitiesSchema);
  }

  /** The extensions that the card declares. The same array until something changes. */
  get extensions(): readonly AgentExtension[] {
    return this.capabilities.extensions;
  }

  /** Whether anonymous callers may have the extended card. */
  get extendedCardIsOpen(): boolean {
    return this.#extended?.open ?? false;
  }

  /** The public card for those who reach the server at that URL. */
  cardAt(baseUrl: string): AgentCard {
    if (baseUrl === this.#baseUrl) {
      return this.#card;
    }
    const card = this.#elsewhere.get(baseUrl) ?? this.#derive(this.#agent, baseUrl);
    this.#elsewhere.set(baseUrl, card);
    return card;
  }

  /** The extended card for a caller, if there is one. */
  findExtended(principal: Principal, baseUrl: string): AgentCard | undefined {
    const definition = this.#extended?.find(principal);
    return definition === undefined ? undefined : this.#derive(this.#agent, baseUrl, definition);
  }

  /** The public card that another definition would make, with all skills on. */
  preview(agent: AgentDefinition): AgentCard {
    return deriveCard(agent, this.#served, this.#interfacesAt(this.#baseUrl));
  }

  /** Says where the wires are reached now. */
  moveTo(baseUrl: string): void {
    this.#baseUrl = baseUrl;
    this.#change();
  }

  /** Says which skills are switched off now. */
  disableSkills(ids: readonly string[]): void {
    this.#disabledSkills = ids;
    this.#change();
  }

  /** Says what the agent is now, and which of its skills are switched off. */
  redefine(agent: AgentDefinition, disabledSkills: readonly string[]): void {
    this.#agent = agent;
    this.#disabledSkills = disabledSkills;
    this.#change();
  }

  #change(): void {
    this.#revision += 1;
    this.#elsewhere.clear();
    this.#card = this.#derive(this.#agent, this.#baseUrl);
  }

  #derive(agent: AgentDefinition, baseUrl: string, definition: CardDefinition = agent.card): AgentCard {
    const shown = withoutSkills(definition, this.#disabledSkills);
    return deriveCard(agent, this.#served, this.#interfacesAt(baseUrl), shown);
  }
}
