import type {
  AgentCardSchema,
  AgentExtensionSchema,
  AgentProviderSchema,
  AgentSkillSchema,
} from "@a2a-connect/proto";
import type { MessageInitShape, Registry } from "@bufbuild/protobuf";
import type { DurableTask } from "./durable-task.ts";
import type { DurableEvent, TurnEvent } from "./task-event.ts";
import type { Turn } from "./turn.ts";

/**
 * User code that does the work of one message: an async generator (or anything iterable) of what `turn` makes.
 *
 * Returning completes the task; yielding a question ends the turn and leaves the task waiting; throwing fails it (the
 * error's own text goes to the log only). `yield` resumes as soon as the event is accepted; readers see it after it is
 * durable.
 */
export type TurnExecutor = (turn: Turn) => AsyncIterable<TurnEvent> | Iterable<TurnEvent>;

/**
 * User code that works on a task from its first message to its end: a generator of what `task` makes, which may be run
 * again from the top (see `DurableTask`). Returning completes the task; throwing fails it.
 */
export type DurableExecutor = (task: DurableTask) => AsyncIterable<DurableEvent> | Iterable<DurableEvent>;

/** Code that runs once for each message; the default. */
export interface TurnCode {
  readonly durable?: false;
  /** Optional where somebody else has code: a skill is run by its agent's, an agent may leave all to its skills. */
  readonly execute?: TurnExecutor;
  /**
   * What becomes of a turn that a crash or a stop of the server has interrupted: `fail` (default) makes its task FAILED
   * with reason `interrupted`; `restart` runs the turn again, up to five times, beginning its artifacts anew.
   */
  readonly recovery?: "fail" | "restart";
  /** What becomes of a message to a task at work: refused (default), or the next turn is for it. */
  readonly whileWorking?: "refuse" | "queue";
}

/** Code that lives as long as its task, over restarts. */
export interface DurableCode {
  readonly durable: true;
  readonly execute: DurableExecutor;
  /** What becomes of a message to a task at work: it goes to `task.inbox` (default), or is refused. */
  readonly whileWorking?: "refuse" | "queue";
}

/** How much of something goes on at a time (docs/limits.md). */
export interface CapacityDefinition {
  /** Executions at a time; further tasks wait in SUBMITTED. At least 1. Default: as many as the process runs. */
  readonly maxRunning?: number;
  /**
   * Tasks that may wait for a place; one more is REJECTED with reason `capacity` before any work. 0: none waits.
   * Default: as many as wait in the process.
   */
  readonly maxQueued?: number;
}

/** A skill as it stands in the card (spec §4.4.5), and, where it has its own, the code behind it. */
export type SkillDefinition = SkillDescription & (TurnCode | DurableCode);

/** A skill without its code; its capacity is part of the agent's. */
export interface SkillDescription
  extends CapacityDefinition,
    Omit<MessageInitShape<typeof AgentSkillSchema>, "$typeName" | "$unknown"> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** What an agent's author says about it; everything else in the card is derived from what is served. */
export interface CardDefinition {
  readonly name: string;
  /** Default: the name. */
  readonly description?: string;
  /** The agent's own version. Default "0.0.0". */
  readonly version?: string;
  readonly provider?: MessageInitShape<typeof AgentProviderSchema>;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** Media types taken in where a skill says nothing. Default text/plain and application/json. */
  readonly defaultInputModes?: readonly string[];
  /** Media types given out where a skill says nothing. Default text/plain and application/json. */
  readonly defaultOutputModes?: readonly string[];
  readonly skills?: readonly SkillDefinition[];
  /** Extensions besides our own lifecycle extension. One that is `required` must be listed in every request. */
  readonly extensions?: readonly MessageInitShape<typeof AgentExtensionSchema>[];
  /**
   * What callers are to be asked for. The card says it as it stands here; the server itself asks for nothing, so an
   * interceptor, or whatever stands before the server, has to.
   */
  readonly securitySchemes?: MessageInitShape<typeof AgentCardSchema>["securitySchemes"];
  /** Which of the schemes callers need: one entry, with all that it names (requirement L-9). As it stands here, too. */
  readonly securityRequirements?: MessageInitShape<typeof AgentCardSchema>["securityRequirements"];
}

/** What an agent declares about the life of its tasks; becomes the params of the lifecycle extension. */
export interface LifecycleDefinition {
  /** Whether it may ask (INPUT_REQUIRED). Default true. */
  readonly asks?: boolean;
  /** Whether it may ask for credentials (AUTH_REQUIRED). Default false. */
  readonly asksForAuth?: boolean;
  /** Whether it tells progress. Default false. */
  readonly reportsProgress?: boolean;
}

/** A whole agent: its card and the code behind it, which runs every task whose skill has no code of its own. */
export type AgentDefinition = TurnAgent | DurableAgent;

/** An agent whose own code is a turn executor, or who leaves all code to its skills. */
export type TurnAgent = AgentDescription & TurnCode;

/** An agent whose own code is a durable executor. */
export type DurableAgent = AgentDescription & DurableCode;

/** An agent without its code. */
export interface AgentDescription extends CapacityDefinition {
  readonly card: CardDefinition;
  /**
   * Picks the skill of a new task when the caller named none. The choice is made once, when the task is created, and
   * stored with it. Undefined: no skill.
   */
  readonly route?: (message: Turn["message"]) => string | undefined;
  readonly lifecycle?: LifecycleDefinition;
  /** Message types that steps of durable executors may return, besides those of A2A and the well-known ones. */
  readonly journalTypes?: Registry;
  /**
   * Whether a message is taken once even if it comes without an `Idempotency-Key`: one with the context id and message
   * id of an earlier one is a repeat, and given what became of that. For callers whose message ids are unique; ids of
   * fewer than 16 characters from callers without credentials are never compared. Default false (requirement A-11).
   */
  readonly dedupeMessageIds?: boolean;
  /** How long a new message may run before it becomes a task. Default 200 ms. */
  readonly taskAfterMs?: number;
  /** How long a canceled executor may take to end before it is abandoned. Default 10,000 ms. */
  readonly cancelGraceMs?: number;
  /** How long an executor may yield nothing before its task is FAILED; `false`: for ever. Default 1,800,000 ms. */
  readonly inactivityTimeoutMs?: number | false;
  /** How long INPUT_REQUIRED waits before the task is CANCELED; `false` waits for ever. Default 600,000 ms. */
  readonly inputTimeoutMs?: number | false;
  /** The same for AUTH_REQUIRED. Default 600,000 ms. */
  readonly authTimeoutMs?: number | false;
}

/**
 * Checks an agent's definition and returns it.
 *
 * @throws Error naming what is missing or wrong: a name, a description that is empty, unique skill ids, code for every skill,
 *   the capacity
 */
export function defineAgent(definition: AgentDefinition): AgentDefinition {
  const { card, execute } = definition;
  if (card.name === "") {
    throw new Error("an agent needs a name: defineAgent({ card: { name: … } })");
  }
  assertDescribed("the agent's card", card);
  assertCapacity("the agent", definition);
  const ids = new Set<string>();
  for (const skill of card.skills ?? []) {
    if (skill.id === "" || ids.has(skill.id)) {
      throw new Error(`the id of every skill is unique and not empty; "${skill.id}" is not`);
    }
    ids.add(skill.id);
    if (skill.name === "") {
      throw new Error(`skill "${skill.id}" needs a name: callers refuse a card without (spec §4.4.5)`);
    }
    assertDescribed(`skill "${skill.id}"`, skill);
    assertCapacity(`skill "${skill.id}"`, skill);
    if (skill.execute === undefined && execute === undefined) {
      throw new Error(`skill "${skill.id}" has no code: give it or the agent an "execute"`);
    }
  }
  if (execute === undefined && ids.size === 0) {
    throw new Error('an agent needs code: give it an "execute" or skills that have one');
  }
  return definition;
}

/** Callers refuse cards with an empty one: it is REQUIRED (spec §4.4.1, §4.4.5). */
function assertDescribed(whose: string, { description }: Pick<CardDefinition, "description">): void {
  if (description === "") {
    const otherwise = whose.startsWith("skill") ? "" : ", or leave it out: then it is the name";
    throw new Error(
      `the description of ${whose} is empty, and callers refuse such a card: write one${otherwise}`,
    );
  }
}

/** Where nothing may run, what waits would wait for ever. */
function assertCapacity(whose: string, { maxRunning, maxQueued }: CapacityDefinition): void {
  if (maxRunning !== undefined && !(Number.isInteger(maxRunning) && maxRunning >= 1)) {
    throw new Error(`maxRunning of ${whose} is a whole number from 1 on, not ${maxRunning}`);
  }
  if (maxQueued !== undefined && !(Number.isInteger(maxQueued) && maxQueued >= 0)) {
    throw new Error(`maxQueued of ${whose} is a whole number from 0 on, not ${maxQueued}`);
  }
}
