import { a2aError, invalidParams, lifecycleExtension } from "@a2a-connect/core";
import {
  effectiveMediaType,
  type LifecycleRequest,
  matchesMediaType,
  parseLifecycleRequest,
  shownText,
} from "@a2a-connect/core/internal";
import type { Message, Task } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type {
  AgentDefinition,
  DurableCode,
  DurableExecutor,
  SkillDefinition,
  TurnCode,
  TurnExecutor,
} from "./agent-definition.ts";

/** Media types of an agent that declares none. */
export const defaultModes: readonly string[] = ["text/plain", "application/json"];

/** Code of a turn executor, with all defaults set. */
export interface TurnAgentCode {
  readonly kind: "turn";
  readonly execute: TurnExecutor;
  readonly recovery: "fail" | "restart";
  readonly whileWorking: "refuse" | "queue";
}

/** Code of a durable executor, likewise. */
export interface DurableAgentCode {
  readonly kind: "durable";
  readonly execute: DurableExecutor;
  readonly whileWorking: "refuse" | "queue";
}

/** The code that runs a task, and the media types that it accepts and produces. */
export interface Selection<Code extends TurnAgentCode | DurableAgentCode> {
  readonly skill: string | undefined;
  /** What its callers need besides the scopes of operations. */
  readonly scopes: readonly string[];
  readonly code: Code;
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

/** A skill that is run turn by turn. */
export type TurnSelection = Selection<TurnAgentCode>;

/** A skill whose tasks are run by a durable executor. */
export type DurableSelection = Selection<DurableAgentCode>;

/** The code that runs a task. */
export type SkillSelection = TurnSelection | DurableSelection;

/** Which of the two it is. */
export function isDurable(selection: SkillSelection): selection is DurableSelection {
  return selection.code.kind === "durable";
}

/** Whether the code of a skill may run a second time over one message. */
export function runsAgain({ code }: SkillSelection): boolean {
  return code.kind === "durable" || code.recovery === "restart";
}

/**
 * The skill for a new message: the one that its caller names, else the one that the agent's `route` returns, else none.
 * For an unknown one it returns an executor that rejects the task and names the agent's skills.
 *
 * @throws ConnectError InvalidArgument when the caller's lifecycle metadata is malformed
 */
export function selectSkill(agent: AgentDefinition, message: Message): SkillSelection {
  return selectSkillById(agent, readLifecycleRequest(message).skill ?? agent.route?.(message));
}

/** The caller's request in the lifecycle metadata. @throws ConnectError InvalidArgument when it is malformed */
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
  const code = id !== undefined && skill === undefined ? rejectUnknownSkill(agent, id) : codeOf(agent, skill);
  const rest = {
    skill: skill?.id,
    scopes: skill?.scopes ?? [],
    inputModes: modes(skill?.inputModes, agent.card.defaultInputModes),
    outputModes: modes(skill?.outputModes, agent.card.defaultOutputModes),
  };
  return code.kind === "durable" ? { ...rest, code } : { ...rest, code };
}

/**
 * Whether no code can continue a task of this skill: the agent was started again without the skill, or without code of
 * its own.
 */
export function isRemoved({ card, execute }: AgentDefinition, skill: string | undefined): boolean {
  return skill === undefined ? execute === undefined : !card.skills?.some(({ id }) => id === skill);
}

/** Refuses parts of a media type that the skill does not accept (requirement A-9). */
export function assertInputModes(message: Message, inputModes: readonly string[]): void {
  const types = message.parts.map(effectiveMediaType);
  const refused = types.findIndex((type) => !inputModes.some((mode) => matchesMediaType(mode, type)));
  if (refused !== -1) {
    const type = shownText(types[refused] ?? ""); // a caller's may have megabytes
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

/** Metadata of a new task that stores the chosen skill. */
export function skillMetadata(skill: string | undefined): JsonObject | undefined {
  return skill === undefined ? undefined : { [lifecycleExtension]: { skill } };
}

/** The skill that `skillMetadata` stored. */
export function readSkill({ metadata }: Pick<Task, "metadata">): string | undefined {
  const parsed = parseLifecycleRequest(metadata);
  return "request" in parsed ? parsed.request.skill : undefined;
}

function codeOf(
  agent: AgentDefinition,
  skill: SkillDefinition | undefined,
): TurnAgentCode | DurableAgentCode {
  const code: TurnCode | DurableCode = skill?.execute === undefined ? agent : skill;
  if (code.durable === true) {
    return { kind: "durable", execute: code.execute, whileWorking: code.whileWorking ?? "queue" };
  }
  return code.execute === undefined ? rejectSkillless(agent) : turnCode(code.execute, code);
}

function turnCode(
  execute: TurnExecutor,
  { recovery = "fail", whileWorking = "refuse" }: TurnCode,
): TurnAgentCode {
  return { kind: "turn", execute, recovery, whileWorking };
}

function modes(
  own: readonly string[] | undefined,
  fallback: readonly string[] = defaultModes,
): readonly string[] {
  return own === undefined || own.length === 0 ? fallback : own;
}

function rejectUnknownSkill(agent: AgentDefinition, id: string): TurnAgentCode {
  return rejectWith(`There is no skill "${shownText(id)}". ${nameSkills(agent)}`);
}

function rejectSkillless(agent: AgentDefinition): TurnAgentCode {
  return rejectWith(`Name the skill that is wanted. ${nameSkills(agent)}`);
}

function rejectWith(sentence: string): TurnAgentCode {
  return turnCode((turn) => [turn.reject(sentence, { reason: "unsupported-skill" })], {});
}

function nameSkills(agent: AgentDefinition): string {
  const ids = (agent.card.skills ?? []).map(({ id }) => id);
  return ids.length === 0 ? "This agent has no named skills." : `There are: ${ids.join(", ")}.`;
}
