import {
  a2aError,
  effectiveMediaType,
  invalidParams,
  type LifecycleRequest,
  lifecycleExtension,
  matchesMediaType,
  parseLifecycleRequest,
} from "@a2a-connect/core";
import type { Message, Task } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { AgentDefinition, SkillDefinition, TurnExecutor } from "./agent-definition.ts";

/** Media types of an agent that declares none. */
export const defaultModes: readonly string[] = ["text/plain", "application/json"];

/** What will run a task, and what it may take in and give out. */
export interface SkillSelection {
  readonly skill: string | undefined;
  readonly executor: TurnExecutor;
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

/**
 * The skill for a new message: the one its caller names, else what the agent's `route` says, else none. An unknown one
 * gives an executor that rejects the task and names those there are.
 *
 * @throws ConnectError InvalidArgument when the caller's lifecycle metadata is malformed
 */
export function selectSkill(agent: AgentDefinition, message: Message): SkillSelection {
  return selectSkillById(agent, readLifecycleRequest(message).skill ?? agent.route?.(message));
}

/** What the caller asks for beside the message. @throws ConnectError InvalidArgument when it is malformed */
export function readLifecycleRequest({ metadata }: Message): LifecycleRequest {
  const parsed = parseLifecycleRequest(metadata);
  if ("problem" in parsed) {
    throw invalidParams({
      field: `message.metadata["${lifecycleExtension}"]${parsed.member === "" ? "" : `.${parsed.member}`}`,
      description: parsed.problem,
    });
  }
  return parsed.request;
}

/** The same for a task whose skill has been chosen. */
export function selectSkillById(agent: AgentDefinition, id: string | undefined): SkillSelection {
  const skill = agent.card.skills?.find((candidate) => candidate.id === id);
  return {
    skill: skill?.id,
    executor:
      id !== undefined && skill === undefined ? rejectUnknownSkill(agent, id) : executorOf(agent, skill),
    inputModes: modes(skill?.inputModes, agent.card.defaultInputModes),
    outputModes: modes(skill?.outputModes, agent.card.defaultOutputModes),
  };
}

/** Refuses parts of a media type that the skill does not take (requirement A-9). */
export function assertInputModes(message: Message, inputModes: readonly string[]): void {
  const types = message.parts.map(effectiveMediaType);
  const refused = types.findIndex((type) => !inputModes.some((mode) => matchesMediaType(mode, type)));
  const type = types[refused];
  if (type !== undefined) {
    throw a2aError(
      "CONTENT_TYPE_NOT_SUPPORTED",
      `message.parts[${refused}] is ${type}; taken are ${inputModes.join(", ")}`,
      {
        mediaType: type,
        supportedMediaTypes: inputModes.join(","),
      },
    );
  }
}

/** Metadata of a new task that keeps which skill was chosen. */
export function skillMetadata(skill: string | undefined): JsonObject | undefined {
  return skill === undefined ? undefined : { [lifecycleExtension]: { skill } };
}

/** The skill that `skillMetadata` kept. */
export function readSkill({ metadata }: Pick<Task, "metadata">): string | undefined {
  const parsed = parseLifecycleRequest(metadata);
  return "request" in parsed ? parsed.request.skill : undefined;
}

function executorOf(agent: AgentDefinition, skill: SkillDefinition | undefined): TurnExecutor {
  return skill?.execute ?? agent.execute ?? rejectSkillless(agent);
}

function modes(
  own: readonly string[] | undefined,
  fallback: readonly string[] = defaultModes,
): readonly string[] {
  return own === undefined || own.length === 0 ? fallback : own;
}

function rejectUnknownSkill(agent: AgentDefinition, id: string): TurnExecutor {
  return (turn) => [
    turn.reject(`There is no skill "${id}". ${nameSkills(agent)}`, { reason: "unsupported-skill" }),
  ];
}

function rejectSkillless(agent: AgentDefinition): TurnExecutor {
  return (turn) => [
    turn.reject(`Name the skill that is wanted. ${nameSkills(agent)}`, { reason: "unsupported-skill" }),
  ];
}

function nameSkills(agent: AgentDefinition): string {
  const ids = (agent.card.skills ?? []).map(({ id }) => id);
  return ids.length === 0 ? "This agent has no named skills." : `There are: ${ids.join(", ")}.`;
}
