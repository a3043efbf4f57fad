import type { Access } from "@a2a-connect/auth/internal";
import { lifecycleExtension } from "@a2a-connect/core";
import {
  AgentCapabilitiesSchema,
  type AgentCard,
  AgentCardSchema,
  type AgentExtension,
  AgentExtensionSchema,
  type AgentSkill,
  AgentSkillSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create, equals } from "@bufbuild/protobuf";
import type { AgentDefinition, CardDefinition, SkillDefinition } from "../agent/agent-definition.ts";
import { defaultModes } from "../agent/skill-selection.ts";
import { questionTimeoutMs } from "../engine/timers.ts";
import { deriveInterfaces, type InterfaceFacts } from "./interfaces.ts";

/** What a card says of the server, rather than of the agent. */
export interface ServerFacts extends InterfaceFacts {
  readonly capabilities: {
    readonly streaming: boolean;
    readonly pushNotifications: boolean;
    readonly extendedAgentCard: boolean;
  };
  /** Which credentials callers need. Undefined: the server does not ask for any. */
  readonly access?: Access | undefined;
  /** Ids of the skills that are switched off. */
  readonly disabledSkills: readonly string[];
}

/**
 * The card of an agent for those who reach the server at a URL: what its author says, and what is mounted (spec §4.4, §8).
 *
 * @param baseUrl without a trailing slash
 * @param definition what the author says. Default: the agent's public card
 */
export function renderCard(
  agent: AgentDefinition,
  { capabilities, access, disabledSkills, ...facts }: ServerFacts,
  baseUrl: string,
  definition: CardDefinition = agent.card,
): AgentCard {
  const {
    extensions: _,
    skills = [],
    securitySchemes = {},
    securityRequirements = [],
    ...told
  } = withoutSkills(definition, disabledSkills);
  return create(AgentCardSchema, {
    ...told,
    description: told.description ?? told.name,
    version: told.version ?? "0.0.0",
    supportedInterfaces: deriveInterfaces(baseUrl, facts),
    capabilities: create(AgentCapabilitiesSchema, { ...capabilities, extensions: deriveExtensions(agent) }),
    defaultInputModes: [...(told.defaultInputModes ?? defaultModes)],
    defaultOutputModes: [...(told.defaultOutputModes ?? defaultModes)],
    skills: skills.map((skill) => toSkill(skill, access)),
    securitySchemes: { ...securitySchemes, ...access?.securitySchemes },
    securityRequirements: access?.requirements() ?? securityRequirements,
  });
}

/**
 * The card without the skills that are switched off. Its version says so as build metadata (SemVer §10), so that every
 * choice of skills has a version of its own: `1.2.0` without "translate" is `1.2.0+off.translate`.
 */
export function withoutSkills(card: CardDefinition, disabled: readonly string[]): CardDefinition {
  const { skills = [], version = "0.0.0" } = card;
  const off = skills.filter(({ id }) => disabled.includes(id));
  if (off.length === 0) {
    return card;
  }
  const separator = version.includes("+") ? "." : "+";
  return {
    ...card,
    skills: skills.filter((skill) => !off.includes(skill)),
    version: `${version}${separator}off.${off.map(({ id }) => toIdentifier(id)).join(".")}`,
  };
}

/** Build metadata knows letters, digits and hyphens only; everything else becomes its code point in hex. */
function toIdentifier(id: string): string {
  return id.replaceAll(/[^0-9A-Za-z-]/gu, (character) => `-${character.codePointAt(0)?.toString(16)}-`);
}

/** What callers must hear of when it changes, in words. */
const telling = [
  ["skills", "skills"],
  ["securitySchemes", "security schemes"],
  ["securityRequirements", "security requirements"],
] as const;

/** What of that has changed while the version has not: those who keep cards by version do not look. */
export function unannouncedChanges(before: AgentCard, after: AgentCard): readonly string[] {
  if (before.version !== after.version) {
    return [];
  }
  const part = (card: AgentCard, member: (typeof telling)[number][0]) =>
    create(AgentCardSchema, { [member]: card[member] });
  return telling
    .filter(([member]) => !equals(AgentCardSchema, part(before, member), part(after, member)))
    .map(([, words]) => words);
}

/** The agent's own extensions, and ours with what the agent declares about the life of its tasks. */
function deriveExtensions(agent: AgentDefinition): AgentExtension[] {
  const own = (agent.card.extensions ?? []).map((extension) => create(AgentExtensionSchema, extension));
  return [...own, deriveLifecycleExtension(agent)];
}

function deriveLifecycleExtension(agent: AgentDefinition): AgentExtension {
  const { asks = true, asksForAuth = false, reportsProgress = false } = agent.lifecycle ?? {};
  const waits = [
    asks ? questionTimeoutMs(agent, TaskState.INPUT_REQUIRED) : 0,
    asksForAuth ? questionTimeoutMs(agent, TaskState.AUTH_REQUIRED) : 0,
  ];
  const bounded = waits.filter((wait) => wait !== undefined);
  return create(AgentExtensionSchema, {
    uri: lifecycleExtension,
    description:
      "How tasks live: whether the agent asks, tells progress, and how long it waits; why a task ended.",
    params: {
      asks,
      asksForAuth,
      reportsProgress,
      idempotencyKeys: true,
      ...(bounded.length < waits.length ? {} : { longestWaitSeconds: Math.max(...bounded) / 1_000 }),
    },
  });
}

/** The card's part of a skill: `create` takes nothing over that the message does not have. */
function toSkill(skill: SkillDefinition, access: Access | undefined): AgentSkill {
  const { scopes = [], tags = [], securityRequirements: told = [] } = skill;
  const securityRequirements =
    access === undefined || scopes.length === 0 ? told : access.requirements(scopes);
  return create(AgentSkillSchema, { ...skill, tags, securityRequirements });
}
