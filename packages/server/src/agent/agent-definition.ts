import type {
  AgentCardSchema,
  AgentExtensionSchema,
  AgentProviderSchema,
  AgentSkillSchema,
} from "@a2a-connect/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Turn } from "./turn.ts";
import type { TurnEvent } from "./turn-event.ts";

/**
 * User code that does the work of one message: an async generator (or anything iterable) of what `turn` makes.
 *
 * Returning completes the task; yielding a question ends the turn and leaves the task waiting; throwing fails it (the
 * error's own text goes to the log only). `yield` resumes as soon as the event is accepted; readers see it after it is
 * durable.
 */
export type TurnExecutor = (turn: Turn) => AsyncIterable<TurnEvent> | Iterable<TurnEvent>;

/** A skill as it stands in the card (spec §4.4.5), and, where it has its own, the code behind it. */
export interface SkillDefinition
  extends Omit<MessageInitShape<typeof AgentSkillSchema>, "$typeName" | "$unknown"> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Runs the tasks of this skill. Default: the agent's own `execute`. */
  readonly execute?: TurnExecutor;
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
  readonly securitySchemes?: MessageInitShape<typeof AgentCardSchema>["securitySchemes"];
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

/** A whole agent: its card and the code behind it. */
export interface AgentDefinition {
  readonly card: CardDefinition;
  /** Runs every task whose skill has no code of its own. Optional when all skills have. */
  readonly execute?: TurnExecutor;
  /**
   * Picks the skill of a new task when the caller named none. The choice is made once, when the task is created, and
   * stored with it. Undefined: no skill.
   */
  readonly route?: (message: Turn["message"]) => string | undefined;
  readonly lifecycle?: LifecycleDefinition;
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
 * @throws Error naming what is missing: a name, unique skill ids, code for every skill
 */
export function defineAgent(definition: AgentDefinition): AgentDefinition {
  const { card, execute } = definition;
  if (card.name === "") {
    throw new Error("an agent needs a name: defineAgent({ card: { name: … } })");
  }
  const ids = new Set<string>();
  for (const skill of card.skills ?? []) {
    if (skill.id === "" || ids.has(skill.id)) {
      throw new Error(`the id of every skill is unique and not empty; "${skill.id}" is not`);
    }
    ids.add(skill.id);
    if (skill.execute === undefined && execute === undefined) {
      throw new Error(`skill "${skill.id}" has no code: give it or the agent an "execute"`);
    }
  }
  if (execute === undefined && ids.size === 0) {
    throw new Error('an agent needs code: give it an "execute" or skills that have one');
  }
  return definition;
}
