import { lifecycleExtension } from "@a2a-connect/core";
import {
  type AgentCard,
  AgentCardSchema,
  type AgentExtension,
  AgentExtensionSchema,
  type AgentInterface,
  type AgentSkill,
  AgentSkillSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { AgentDefinition, CardDefinition, SkillDefinition } from "../agent/agent-definition.ts";
import { defaultModes } from "../agent/skill-selection.ts";
import { questionTimeoutMs } from "../engine/task-timers.ts";

/** What is really served, as far as the card tells it. */
export interface ServedCapabilities {
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  readonly extendedAgentCard: boolean;
}

/** The card of an agent as it is served: what its author says, and what is mounted (spec §4.4, §8). */
export function deriveCard(
  agent: AgentDefinition,
  served: ServedCapabilities,
  supportedInterfaces: AgentInterface[],
  definition: CardDefinition = agent.card,
): AgentCard {
  const {
    name,
    description = name,
    version = "0.0.0",
    skills = [],
    securitySchemes,
    securityRequirements,
  } = definition;
  return create(AgentCardSchema, {
    name,
    description,
    version,
    supportedInterfaces,
    capabilities: { ...served, extensions: deriveExtensions(agent) },
    defaultInputModes: [...(definition.defaultInputModes ?? defaultModes)],
    defaultOutputModes: [...(definition.defaultOutputModes ?? defaultModes)],
    skills: skills.map(toSkill),
    ...(definition.provider === undefined ? {} : { provider: definition.provider }),
    ...(definition.documentationUrl === undefined ? {} : { documentationUrl: definition.documentationUrl }),
    ...(definition.iconUrl === undefined ? {} : { iconUrl: definition.iconUrl }),
    ...(securitySchemes === undefined ? {} : { securitySchemes }),
    ...(securityRequirements === undefined ? {} : { securityRequirements }),
  });
}

/** The agent's own extensions, and ours with what the agent declares about the life of its tasks. */
export function deriveExtensions(agent: AgentDefinition): AgentExtension[] {
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
function toSkill(skill: SkillDefinition): AgentSkill {
  return create(AgentSkillSchema, { ...skill, tags: skill.tags ?? [] });
}
