import { type ReadTurns, type SharedBudget, scaleToHeap } from "@a2a-connect/core/internal";
import type { TaskState } from "@a2a-connect/proto";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { ServedAgent } from "../agent/served-agent.ts";
import type { SkillSwitches } from "../agent/skill-switches.ts";
import type { Owner, TaskRef, TaskStore } from "../store/task-store.ts";
import type { AbandonedCode } from "./capacity/abandoned-code.ts";
import type { BeginTurns } from "./capacity/begin-turns.ts";
import type { MemoryTurns } from "./capacity/memory-turns.ts";
import type { ReadBacks } from "./capacity/read-backs.ts";
import type { SharedPlaces } from "./capacity/shared-places.ts";
import type { StoredBytes } from "./capacity/stored-bytes.ts";
import type { TaskReadTurns } from "./capacity/task-read-turns.ts";
import type { Clock } from "./clock.ts";
import type { JournalCodec } from "./durable/journal-codec.ts";
import type { EventPages } from "./event-pages.ts";
import type { EventBudget } from "./events.ts";
import type { EngineWakes } from "./wakes.ts";

/**
 * Limits of the engine; all have defaults. Those of the memory and the number of tasks, which each take memory, are for a heap of 2 GiB
 * or more: a smaller one gets as much less of `maxRunning`, `maxQueued`, `maxActiveBytes`, `maxFollowers`, `maxTaskBytes` and `maxTotalTailBytes`.
 */
export interface EngineLimits {
  /**
   * Executions at a time of this agent; further tasks wait in SUBMITTED. An agent may allow fewer. What its code holds that it has not
   * yielded counts nowhere, so this is its only bound. Default 1,000: agents of one host for which neither this nor `maxRunning` of the
   * agent is set have as many together (docs/limits.md).
   */
  readonly maxRunning: number;
  /**
   * Tasks that may wait for a slot. One more is refused with CAPACITY, unless its agent or its skill allows fewer and
   * has REJECTED it. Default 10,000.
   */
  readonly maxQueued: number;
  /**
   * The part of the slots, to run and to wait, that one caller can have, of the requests to webhooks, and of the room of
   * the store: above 0, to 1 for all of them. A caller is a principal of the agent's gates (`auth`), or without
   * credentials an IPv4 address or an IPv6 network of 64 bits. Default 7/8.
   */
  readonly maxShare: number;
  /**
   * What the tasks in memory take there, about, in bytes: those that run, wait, get a message or are followed. Beyond it, or
   * beyond the caller's part of it by `maxShare`, a task of more than 16 KiB is refused with CAPACITY, a new one or one
   * that would have to be loaded. What an agent adds to its task counts, too, and is not refused: while a caller has more than its
   * part, its executors begin and go on a few at a time. Default 256 MiB.
   */
  readonly maxActiveBytes: number;
  /**
   * Calls that may follow tasks at a time: subscriptions, long polls, and messages to tasks that exist; beyond it, or beyond the
   * caller's part of it by `maxShare`, one more is refused with CAPACITY. Default 5,000.
   */
  readonly maxFollowers: number;
  /**
   * What one task's artifacts take in memory, about, in bytes, and as much again of its messages: each artifact counts 512 besides its
   * bytes, each part and each value of data or metadata 128. A task whose agent goes beyond fails with reason `task-too-large`, and a
   * caller's message beyond is refused with TASK_TOO_LARGE. Also the limit of each event and direct Message of an agent, and of a durable
   * executor's journal. Default 64 MiB; with a small heap less, to 24 MiB: a text of 16 MiB fits.
   */
  readonly maxTaskBytes: number;
  /**
   * Bytes of the newest events kept in memory for readers of one task, including 512 for the objects of each event.
   * Default 1 MiB.
   */
  readonly maxTailBytes: number;
  /**
   * The same for all tasks of this process together, and again for the older events that readers have read back from the
   * store; beyond it a reader gets only a few of those at a time. Default 64 MiB.
   */
  readonly maxTotalTailBytes: number;
  /**
   * How often to commit chunks of artifacts when there is nothing else to commit; the first chunk after a pause is
   * committed at once. 0 commits each chunk as soon as the one before is durable. Default 1 ms.
   */
  readonly chunkIntervalMs: number;
  /** Events an executor may be ahead of the store before `yield` waits. Default 64. */
  readonly maxUncommitted: number;
  /** The same in bytes; one event may be larger. Default 256 KiB. */
  readonly maxUncommittedBytes: number;
  /** Bytes of the result of one step of a durable executor. Default 1 MiB. */
  readonly maxStepBytes: number;
  /**
   * How long a waiting durable executor stays in memory before it is dropped, and loaded again when it is needed.
   * Default 30 s.
   */
  readonly unloadAfterMs: number;
}

/** Every limit with its default. */
export const defaultEngineLimits: EngineLimits = {
  maxRunning: scaleToHeap(1_000),
  maxQueued: scaleToHeap(10_000),
  maxShare: 7 / 8,
  maxActiveBytes: scaleToHeap(256 * 2 ** 20),
  maxFollowers: scaleToHeap(5_000),
  maxTaskBytes: Math.max(24 * 2 ** 20, scaleToHeap(64 * 2 ** 20)),
  maxTailBytes: 2 ** 20,
  maxTotalTailBytes: scaleToHeap(64 * 2 ** 20),
  chunkIntervalMs: 1,
  maxUncommitted: 64,
  maxUncommittedBytes: 256 * 2 ** 10,
  maxStepBytes: 2 ** 20,
  unloadAfterMs: 30_000,
};

/** A record for the operator's log. It is never sent to a caller. */
export interface LogRecord {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly taskId?: string;
  /**
   * What was thrown, perhaps by an executor. Its text may be private, so a log with many readers should leave it out.
   */
  readonly error?: unknown;
}

/** A task has another state, and that is durable. */
export interface StateChange {
  readonly owner: Owner;
  readonly taskId: string;
  readonly contextId: string;
  readonly skill: string | undefined;
  /** Undefined: it was just created. */
  readonly before: TaskState | undefined;
  readonly after: TaskState;
  /** Of the lifecycle report, such as `capacity`. */
  readonly reason: string | undefined;
}

/** A task with an event for webhooks. */
export interface DueTask {
  readonly owner: Owner;
  readonly taskId: string;
  /** The caller whose task it is, by its name; undefined: not known. */
  readonly share: string | undefined;
}

/** What all parts of the engine use. */
export interface EngineContext {
  readonly store: TaskStore;
  /** As it was started: its timeouts and its capacity, which do not change. */
  readonly agent: AgentDefinition;
  /** With the card that it has now. */
  readonly served: Readonly<ServedAgent>;
  /** Which of its skills take new tasks. */
  readonly skills: Pick<SkillSwitches, "disabled">;
  readonly clock: Clock;
  /** Makes ids that cannot be guessed. */
  readonly randomId: () => string;
  readonly limits: EngineLimits;
  /** The name of the caller whose tasks these are, for work without its call. */
  readonly nameOwner: (owner: Owner) => string;
  readonly log: (record: LogRecord) => void;
  /** Told of every change of state. Undefined: nothing asks. */
  readonly onState?: ((change: StateChange) => void) | undefined;
  /** Called after every commit: says when the task is to be woken; undefined: never. */
  readonly onTimer: (task: TaskRef, wakeAt: number | undefined) => void;
  /** Called when a commit of this task has made deliveries to webhooks due. */
  readonly onDeliveryDue: (task: DueTask) => void;
  /** Writes and reads the results of steps. */
  readonly journalCodec: JournalCodec;
  /** Limits the memory for the newest events of all tasks. */
  readonly tailBudget: EventBudget;
  /** Counts what callers have stored. */
  readonly stored: StoredBytes;
  /** Wakes what has waited for the same event, a few in a turn of the event loop. */
  readonly wakes: EngineWakes;
  /** Lets executors go on while the tasks of their caller take too much memory. */
  readonly memoryTurns: MemoryTurns;
  /**
   * The same for executors that are told to stop, also before their caller has more than its part: each may put out at once what it has by
   * then. None waits for those that go on.
   */
  readonly stopTurns: MemoryTurns;
  /** Lets executors begin while the tasks of their caller take too much memory. */
  readonly beginTurns: BeginTurns;
  /** The places to run that it has together with other agents; undefined: it has `limits.maxRunning` or the agent's number for itself. */
  readonly places?: SharedPlaces | undefined;
  /** Counts the steps, sleeps and takes of the inbox that are under way. */
  readonly operations: SharedBudget;
  /** Counts what code has in memory that goes on when its task has ended. */
  readonly abandoned: AbandonedCode;
  /** Reads older events back for readers. */
  readonly eventPages: EventPages;
  /** Bounds how many other reads of the store run at a time: for calls, and of tasks that no call waits for. */
  readonly reads: Readonly<Record<"lists" | "loads", Pick<ReadTurns, "run">>> & {
    readonly tasks: TaskReadTurns;
  };
  /** Lets durable executors read what earlier runs did. */
  readonly readBacks: ReadBacks;
}
