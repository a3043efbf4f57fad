import type { Principal } from "@a2a-connect/core";
import {
  type AgentCapabilities,
  AgentCapabilitiesSchema,
  type AgentCard,
  type AgentInterface,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { AgentDefinition, CardDefinition } from "../agent/agent-definition.ts";
import { deriveCard, type ServedCapabilities } from "./derive-card.ts";
import { withoutSkills } from "./without-skills.ts";

/** The card for callers that have said who they are (spec §3.1.11). */
export interface ExtendedCardOptions {
  /** What the caller gets to see; undefined: nothing is configured for it (requirement A-61). */
  readonly find: (principal: Principal) => CardDefinition | undefined;
  /** Gives it to anonymous callers, too. Default false (requirement A-62). */
  readonly open?: boolean;
}

/** The cards of one server: derived again when the public URL changes, or a skill is switched off or on. */
export class CardSource {
  readonly #agent: AgentDefinition;
  readonly #served: ServedCapabilities;
  readonly #extended: ExtendedCardOptions | undefined;
  #interfaces: AgentInterface[];
  #disabledSkills: readonly string[] = [];
  #card: AgentCard;

  constructor(
    agent: AgentDefinition,
    served: ServedCapabilities,
    interfaces: AgentInterface[],
    extended: ExtendedCardOptions | undefined,
  ) {
    this.#agent = agent;
    this.#served = served;
    this.#extended = extended;
    this.#interfaces = interfaces;
    this.#card = this.#derive(agent.card);
  }

  /** The public card. The same object until something changes. */
  get card(): AgentCard {
    return this.#card;
  }

  /** What the card declares; it does not change while the server runs. */
  get capabilities(): AgentCapabilities {
    return this.#card.capabilities ?? create(AgentCapabilitiesSchema);
  }

  /** Whether anonymous callers may have the extended card. */
  get extendedCardIsOpen(): boolean {
    return this.#extended?.open ?? false;
  }

  /** The extended card for a caller, if there is one. */
  findExtended(principal: Principal): AgentCard | undefined {
    const definition = this.#extended?.find(principal);
    return definition === undefined ? undefined : this.#derive(definition);
  }

  /** Says where the wires are reached now. */
  moveTo(interfaces: AgentInterface[]): void {
    this.#interfaces = interfaces;
    this.#card = this.#derive(this.#agent.card);
  }

  /** Says which skills are switched off now. */
  disableSkills(ids: readonly string[]): void {
    this.#disabledSkills = ids;
    this.#card = this.#derive(this.#agent.card);
  }

  #derive(definition: CardDefinition): AgentCard {
    const shown = withoutSkills(definition, this.#disabledSkills);
    return deriveCard(this.#agent, this.#served, this.#interfaces, shown);
  }
}
