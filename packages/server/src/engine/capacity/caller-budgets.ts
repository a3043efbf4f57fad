import { a2aError } from "@a2a-connect/core";
import { SharedBudget, shareByLimits } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";
import { defaultEngineLimits, type EngineLimits, type LogRecord } from "../engine-context.ts";
import { EventBudget } from "../events.ts";
import { operationsPart, taskBytes } from "../memory-weight.ts";
import { BeginTurns } from "./begin-turns.ts";
import { MemoryTurns, stopTurnMs } from "./memory-turns.ts";
import { ReadBackLines } from "./read-backs.ts";
import { SharedPlaces } from "./shared-places.ts";
import { StoredBytes } from "./stored-bytes.ts";

/** When a caller may try again. */
const retryAfterSeconds = "1";

/** What a small task takes at most. */
const smallBytes = taskBytes + 16 * 1024;

type Limits = Pick<EngineLimits, "maxActiveBytes" | "maxFollowers" | "maxShare" | "maxTotalTailBytes">;

const heldExecutors =
  "the tasks of a caller take more memory than its part of maxActiveBytes; its executors go on a few at a time";

/** How often the operator is told. */
const noticeMs = 60_000;

/** What engines have besides, also those of several agents. */
interface Surroundings {
  readonly clock: Clock;
  readonly log: (record: LogRecord) => void;
}

/**
 * What all callers have together, in one engine or in those of several agents of a process; and the turns in which a caller's tasks
 * take what is counted here. With turns of its own, each of many agents would let one more task grow before any of them counts.
 */
export class CallerBudgets {
  readonly active: SharedBudget;
  readonly followers: SharedBudget;
  /** The bytes of what durable executors have under way; they are memory of their tasks, too. */
  readonly operations: SharedBudget;
  /** The newest events of all tasks. */
  readonly tails: EventBudget;
  /** Older events that readers have read back from the store. Where there is no room for more, they are read one by one. */
  readonly eventPages: SharedBudget;
  readonly stored: StoredBytes;
  /** To run, for agents without a number of their own. */
  readonly places: SharedPlaces;
  /** See `EngineContext`. */
  readonly memoryTurns: MemoryTurns;
  /** See `EngineContext`. */
  readonly stopTurns: MemoryTurns;
  /** See `EngineContext`. */
  readonly beginTurns: BeginTurns;
  /** See `ReadBacks`. */
  readonly readBackLines: ReadBackLines = new ReadBackLines();
  readonly #waiting = new Set<() => void>();

  constructor(limits: Limits, surroundings: Surroundings) {
    const { clock } = surroundings;
    this.active = createActiveBytes(limits);
    this.followers = createFollowers(limits);
    this.operations = createUnrefused(limits.maxActiveBytes * operationsPart, limits);
    this.tails = new EventBudget(limits.maxTotalTailBytes);
    this.eventPages = createUnrefused(limits.maxTotalTailBytes, limits);
    this.stored = new StoredBytes(limits.maxShare);
    this.places = new SharedPlaces(defaultEngineLimits.maxRunning, limits.maxShare);
    const onHeld = noticeHeld(surroundings);
    this.memoryTurns = new MemoryTurns(this.active, clock, onHeld);
    this.stopTurns = new MemoryTurns(this.active, clock, onHeld, stopTurnMs);
    this.beginTurns = new BeginTurns(this, clock);
  }

  /** Calls `onRoom` whenever a task has left memory, of any engine. @returns ends that */
  watchRoom(onRoom: () => void): () => void {
    this.#waiting.add(onRoom);
    return () => void this.#waiting.delete(onRoom);
  }

  /** A task has left memory. */
  tellRoom(): void {
    for (const onRoom of [...this.#waiting]) onRoom();
  }
}

/** Gives agents of one host that have the same limits the same budgets: each with its own could have as much as one may. */
export function createBudgetsFor(surroundings: Surroundings): (limits: Limits) => CallerBudgets {
  const find = shareByLimits((limits: Limits) => new CallerBudgets(limits, surroundings));
  return ({ maxActiveBytes, maxFollowers, maxShare, maxTotalTailBytes }) =>
    find({ maxActiveBytes, maxFollowers, maxShare, maxTotalTailBytes });
}

/** Tells the operator that executors are held: once in a minute at most, in the name of none of the agents. */
function noticeHeld({ clock, log }: Surroundings): () => void {
  let noticedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.ticks();
    if (now - noticedAt < noticeMs) return;
    noticedAt = now;
    log({ level: "warn", message: heldExecutors });
  };
}

/**
 * The bytes that tasks take in memory that callers hold there: new tasks, tasks with a further message, and tasks that are
 * followed. Places alone bound nothing: thousands of tasks may run and wait, each may be as large as a task can be, each agent of a
 * host has places of its own, and answers wait without one.
 */
function createActiveBytes({ maxActiveBytes, maxShare }: Limits): SharedBudget {
  const words = `tasks that run, wait or are followed take most of ${maxActiveBytes} bytes of memory; try again in ${retryAfterSeconds} second or later, or send a smaller message`;
  const metadata = { retryAfterSeconds, maxActiveBytes: String(maxActiveBytes) };
  const refuse = () => a2aError("CAPACITY", words, metadata);
  return new SharedBudget({ max: maxActiveBytes, maxShare, small: smallBytes, refuse });
}

/** The calls that wait for something of a task that they did not create: each is a stream that stays open. */
function createFollowers({ maxFollowers, maxShare }: Limits): SharedBudget {
  const words = `most of ${maxFollowers} calls that may follow a task are open; try again in ${retryAfterSeconds} second or later`;
  const metadata = { retryAfterSeconds, maxFollowers: String(maxFollowers) };
  const refuse = () => a2aError("CAPACITY", words, metadata);
  return new SharedBudget({ max: maxFollowers, maxShare, refuse });
}

/** What is looked at before more of it is taken, and is not refused. */
function createUnrefused(max: number, { maxShare }: Limits): SharedBudget {
  return new SharedBudget({ max, maxShare, refuse: () => new Error("nothing of this budget is refused") });
}
