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
 * User code that does the work of one message: an async generator (or any iterable) of the events that `turn` makes.
 *
 * Returning completes the task. Yielding a question ends the turn and leaves the task waiting. Throwing fails the task
 * (the error's own text goes to the log only), and so does to yield no event, to make one without yielding it, or to
 * return a value. `yield` resumes as soon as the event is accepted; readers see the event
 * after it is durable.
 */
export type TurnExecutor = (turn: Turn) => AsyncIterable<TurnEvent, void> | Iterable<TurnEvent, void>;

/**
 * User code that works on a task from its first message to its end: a generator of the events that `task` makes. It may
 * be run again from the top (see `DurableTask`). Returning completes the task; throwing fails it.
 */
export type DurableExecutor = (
  task: DurableTask,
) => AsyncIterable<DurableEvent, void> | Iterable<DurableEvent, void>;

/** Code that runs once for each message; the default. */
export interface TurnCode {
  readonly durable?: false;
  /**
   * Optional where a skill or the agent has code: an agent's code runs the skills without code, and an agent may leave
   * all code to its skills.
   */
  readonly execute?: TurnExecutor;
  /**
   * What the server does with a turn that a crash or a stop has interrupted: `fail` (default) makes its task FAILED
   * with reason `interrupted`; `restart` runs the turn again, up to five times, and begins its artifacts anew.
   */
  readonly recovery?: "fail" | "restart";
  /**
   * What the server does with a message to a task at work: it refuses the message (default), or begins the next turn
   * for it.
   */
  readonly whileWorking?: "refuse" | "queue";
}

/** Code that runs as long as its task, across restarts. */
export interface DurableCode {
  readonly durable: true;
  readonly execute: DurableExecutor;
  /** What the server does with a message to a task at work: it goes to `task.inbox` (default), or is refused. */
  readonly whileWorking?: "refuse" | "queue";
}

/** How many tasks run and wait at a time (docs/limits.md). */
export interface CapacityDefinition {
  /** Executions at a time; further tasks wait in SUBMITTED. At least 1. Default: the process's limit. */
  readonly maxRunning?: number;
  /**
   * Tasks that may wait for a slot. One more is REJECTED with reason `capacity` before any work. 0: no task waits.
   * Default: the process's limit.
   */
  readonly maxQueued?: number;
}

/** A skill as in the card (spec §4.4.5), with its code if it has its own. */
export type SkillDefinition = SkillDescription & (TurnCode | DurableCode);

/** A skill without its code; it shares the agent's capacity. */
export interface SkillDescription
  extends CapacityDefinition,
    Omit<MessageInitShape<typeof AgentSkillSchema>, "$typeName" | "$unknown"> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /**
   * The scopes that callers need to send messages to this skill, besides those of the operation; the card says so. They count
   * where the server asks for credentials (`auth`). Default none.
   */
  readonly scopes?: readonly string[];
}

/** The author's part of the card; the rest is derived from what is served. */
export interface CardDefinition {
  readonly name: string;
  /** Default: the name. */
  readonly description?: string;
  /** The agent's own version. Default "0.0.0". */
  readonly version?: string;
  readonly provider?: MessageInitShape<typeof AgentProviderSchema>;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** Media types that skills without a list of their own accept. Default text/plain and application/json. */
  readonly defaultInputModes?: readonly string[];
  /** Media types that skills without a list of their own produce. Default text/plain and application/json. */
  readonly defaultOutputModes?: readonly string[];
  readonly skills?: readonly SkillDefinition[];
  /** Extensions besides our own lifecycle extension. Every request must list the `required` ones. */
  readonly extensions?: readonly MessageInitShape<typeof AgentExtensionSchema>[];
  /**
   * The credentials that callers need, copied into the card unchanged. The server itself does not ask for them: an
   * interceptor, or a proxy in front of the server, must do that. What the server asks for itself is its option `auth`, and
   * the card has that without being told.
   */
  readonly securitySchemes?: MessageInitShape<typeof AgentCardSchema>["securitySchemes"];
  /** Which of the schemes callers need: one entry, with all schemes in it (requirement L-9). Copied unchanged, too. */
  readonly securityRequirements?: MessageInitShape<typeof AgentCardSchema>["securityRequirements"];
}

/** What an agent declares about its tasks; becomes the params of the lifecycle extension. */
export interface LifecycleDefinition {
  /** Whether it may ask questions (INPUT_REQUIRED). Default true. */
  readonly asks?: boolean;
  /** Whether it may ask for credentials (AUTH_REQUIRED). Default false. */
  readonly asksForAuth?: boolean;
  /** Whether it reports progress. Default false. */
  readonly reportsProgress?: boolean;
}

/** A whole agent: its card and its code, which runs every task whose skill has no code of its own. */
export type AgentDefinition = TurnAgent | DurableAgent;

/** An agent whose own code is a turn executor, or whose skills have all the code. */
export type TurnAgent = AgentDescription & TurnCode;

/** An agent whose own code is a durable executor. */
export type DurableAgent = AgentDescription & DurableCode;

/** An agent without its code. */
export interface AgentDescription extends CapacityDefinition {
  readonly card: CardDefinition;
  /**
   * Picks the skill of a new task when the caller named none. It is called once, when the task is created, and the
   * choice is stored with the task. Undefined: no skill.
   */
  readonly route?: (message: Turn["message"]) => string | undefined;
  readonly lifecycle?: LifecycleDefinition;
  /** Message types that steps of durable executors may return, besides those of A2A and the well-known ones. */
  readonly journalTypes?: Registry;
  /**
   * Whether a message without an `Idempotency-Key` is taken only once. A message with the context id and message id of
   * an earlier one then is a repeat, and gets the earlier one's result. For callers whose message ids are unique. Ids
   * of fewer than 16 characters from callers without credentials are never compared. Default false (requirement A-11).
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
 * @throws Error naming what is missing or wrong: a name, an empty description, duplicate skill ids, a skill without
 *   code, the capacity
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

/** Callers refuse cards with an empty description: it is REQUIRED (spec §4.4.1, §4.4.5). */
function assertDescribed(whose: string, { description }: Pick<CardDefinition, "description">): void {
  if (description === "") {
    const otherwise = whose.startsWith("skill") ? "" : ", or leave it out: then it is the name";
    throw new Error(
      `the description of ${whose} is empty, and callers refuse such a card: write one${otherwise}`,
    );
  }
}

/** With no task that may run, waiting tasks would wait for ever. */
function assertCapacity(whose: string, { maxRunning, maxQueued }: CapacityDefinition): void {
  if (maxRunning !== undefined && !(Number.isInteger(maxRunning) && maxRunning >= 1)) {
    throw new Error(`maxRunning of ${whose} is a whole number from 1 on, not ${maxRunning}`);
  }
  if (maxQueued !== undefined && !(Number.isInteger(maxQueued) && maxQueued >= 0)) {
    throw new Error(`maxQueued of ${whose} is a whole number from 0 on, not ${maxQueued}`);
  }
}
