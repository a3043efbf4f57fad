import type { Message, TaskPushNotificationConfig, TaskState } from "@a2a-connect/proto";

/**
 * The owner of a task. The store looks up everything that a caller may reach by it, so a task of another owner and a
 * missing one look the same.
 */
export interface Owner {
  /** Routing key of the request, "" without one (spec §3.1, field `tenant`). */
  readonly tenant: string;
  /** Stable id of the caller. */
  readonly principal: string;
}

/**
 * The kind of an entry in a task's log (docs/architecture.md, "A task is a log").
 *
 * `task`, `status` and `artifact` are events: each has a generation, and callers see it. Callers never see the others:
 * `input` is folded into history, `command` and `journal` are notes of the engine.
 */
export type EntryKind = "task" | "status" | "artifact" | "input" | "command" | "journal";

/** One entry of a task's log; immutable. */
export interface LogEntry {
  /** 1, 2, 3, … without gaps. */
  readonly sequence: number;
  /** 1, 2, 3, … without gaps among the events; undefined for everything else. */
  readonly generation: number | undefined;
  readonly kind: EntryKind;
  /** Protobuf: a StreamResponse (events), a Message (input); JSON in UTF-8 for commands and the journal. */
  readonly payload: Uint8Array;
}

/** An entry that callers see. */
export interface LogEvent extends LogEntry {
  readonly kind: "task" | "status" | "artifact";
  readonly generation: number;
}

/** The end of a log: the numbers of its last entry and of its last event; zeros for a log that does not exist. */
export interface LogTail {
  readonly sequence: number;
  readonly generation: number;
}

/**
 * Which parts of a task and its log to read. The store does not read the other parts if they are stored separately
 * (entries, halves of snapshots), and never decodes them.
 *
 * - `full`: history and artifacts; everything but `command` and `journal`.
 * - `head`: no artifacts, neither their entries nor their half of the snapshot.
 * - `results`: no history: no `input` entries, and a `task` entry and a snapshot come without it.
 * - `summary`: neither.
 */
export type TaskView = "full" | "head" | "results" | "summary";

/**
 * Which entries of a log to read: all, those of a task's view, or those that callers never see (`input`, `command`,
 * `journal`).
 */
export type LogView = "all" | TaskView | "notes";

/** One bounded page of a log. */
export interface LogPage {
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** Where the page ends and the next one begins. */
  readonly end: LogTail;
  /** Whether more may follow. */
  readonly more: boolean;
}

/** A caller's idempotency key, and the hash of the first request with it. */
export interface RequestKey {
  /** Unique for an owner; it contains the agent, too. */
  readonly key: string;
  /** SHA-256 of the request. */
  readonly fingerprint: Uint8Array;
}

/** A key whose request became part of a task. */
export interface TaskKey extends RequestKey {
  /** Generation after which the consequences of the request begin; 0 when it created the task. */
  readonly generation: number;
}

/** What became of a key's request: a part of a task, or a Message that is read by itself, because it may be large. */
export type KeyedResult = KeyedTask | { readonly kind: "message" };

/** The task that a key's request became part of. */
export interface KeyedTask {
  readonly kind: "task";
  readonly taskId: string;
  readonly generation: number;
}

/** A key as it is stored. */
export interface StoredKey extends RequestKey {
  readonly result: KeyedResult;
}

/** A webhook and its position: a cursor over the log of its task. */
export interface Delivery {
  /** Names this registration; a config that replaces another gets a new number. */
  readonly number: number;
  readonly owner: Owner;
  readonly taskId: string;
  readonly config: TaskPushNotificationConfig;
  /** Generation of the event to deliver next. */
  readonly next: number;
  /** Bytes of that event's payload, found without reading it. */
  readonly bytes: number;
  /** Failed attempts since the last success. */
  readonly attempts: number;
  /** When to try (milliseconds since 1970); 0: at once. */
  readonly dueAt: number;
}

/** The next position of a delivery. */
export interface DeliveryMove extends Pick<Delivery, "number" | "next" | "attempts"> {
  /** When to try again. Undefined: when there is an event of generation `next`, which may be at once. */
  readonly retryAt: number | undefined;
}

/** Which due deliveries to read. */
export interface DueQuery {
  /** The time, milliseconds since 1970. */
  readonly now: number;
  /**
   * The latest time to which a retry can be delayed. A later one was delayed by a clock that was set back since, and is
   * due.
   */
  readonly latest: number;
  /** Number of the last delivery due at once that was considered; 0 begins with the lowest. */
  readonly after: number;
  /** The last retry that was considered; undefined begins with the earliest. */
  readonly afterRetry?: Pick<Delivery, "dueAt" | "number"> | undefined;
  /** How many of each kind, at most. */
  readonly limit: number;
}

/** The due deliveries of all owners: each kind in its own order, so that the two kinds do not delay each other. */
export interface DueDeliveries {
  /** Due at once (`dueAt` 0): by number from the one after `after` on, then from the lowest; each once. */
  readonly fresh: readonly Delivery[];
  /** Retries whose time has come, after `afterRetry`: earliest first, then by number, and those beyond `latest` last. */
  readonly retries: readonly Delivery[];
  /** When the next retry will be due (milliseconds since 1970); undefined: there is none. */
  readonly nextAt: number | undefined;
}

/** What may be removed. */
export interface Expiry {
  /** Tasks in a terminal state since before this time (milliseconds since 1970) are removed; undefined: none. */
  readonly finishedBefore: number | undefined;
  /** Kept direct Messages whose `expiresAt` is before this time are removed. */
  readonly now: number;
  /** About how many rows this call may remove, so that no call takes long. */
  readonly limit: number;
  /** For about how many milliseconds this call may occupy the event loop; it removes less when they are over. Default: as long as `limit` takes. */
  readonly maxMs?: number;
}

/**
 * The fold of a task up to `sequence`, in two halves, so that a list need not read artifacts. Each half is a protobuf
 * Task; both halves joined are the whole one.
 */
export interface Snapshot {
  readonly sequence: number;
  /** Task without artifacts. */
  readonly head: Uint8Array;
  /** Task with artifacts only; undefined when the view leaves them out. */
  readonly artifacts: Uint8Array | undefined;
}

/** The values by which lists filter and order, and the time of the task's next timer. */
export interface TaskIndex {
  readonly contextId: string;
  readonly state: TaskState;
  /** Milliseconds since 1970, as in `status.timestamp`. */
  readonly statusTimestamp: number;
  /** When a timer of the task is due (milliseconds since 1970): its deadline or a question's timeout. */
  readonly wakeAt: number | undefined;
}

/** Entries to append to one task's log, with everything that is stored together with them. */
export interface TaskCommit {
  readonly owner: Owner;
  readonly taskId: string;
  /** The sequence that the writer expects at the end of the log; 0 creates the task, which must not exist. */
  readonly expectedSequence: number;
  /** The fence from `claim`; 1 for a task that is created. */
  readonly fence: number;
  /** Numbered from `expectedSequence + 1` on; at least one. */
  readonly entries: readonly LogEntry[];
  /** The index after these entries. */
  readonly index: TaskIndex;
  /**
   * Written only when the log has grown by twice the weight of the fold. It covers the log up to this commit's last
   * entry, and replaces the snapshot before.
   */
  readonly snapshot: Snapshot | undefined;
  /**
   * Push configs in the message that creates or continues the task. Their webhooks get the events of this commit, too.
   */
  readonly pushConfigs: readonly TaskPushNotificationConfig[];
  /** Idempotency keys of the messages in these entries; kept as long as the task. */
  readonly keys: readonly TaskKey[];
  /** The caller whose task it is, for turns where commits wait; it is not stored. Undefined: not known. */
  readonly share?: string | undefined;
}

/** The result of a commit. A refused commit has written nothing. */
export type CommitResult =
  /** `deliveryDue`: the commit has an event, and the task has a webhook that must get it. */
  | { readonly tail: LogTail; readonly deliveryDue: boolean }
  /**
   * `conflict`: the log does not end at `expectedSequence`; `fenced`: another process has claimed the task since;
   * `duplicate`: one of the keys is taken, or occurs twice.
   */
  | { readonly refused: "conflict" | "fenced" | "duplicate"; readonly tail: LogTail };

/** A stored task: fold the snapshot, then the entries. */
export interface StoredTask {
  readonly owner: Owner;
  readonly taskId: string;
  readonly index: TaskIndex;
  readonly tail: LogTail;
  readonly fence: number;
  readonly snapshot: Snapshot | undefined;
  /** The view's entries after the snapshot, oldest first: one page, with the limits of `TaskStore.entries`. */
  readonly entries: readonly LogEntry[];
  /** Where that page ends and the next one begins, in the same view; undefined when there is no more. */
  readonly more: LogTail | undefined;
}

/** A task's owner and id. */
export interface TaskRef {
  readonly owner: Owner;
  readonly taskId: string;
}

/** Which unfinished tasks to read. */
export interface UnfinishedQuery {
  /** Those that have a timer (`wakeAt`), due or not; false: those that have none. */
  readonly hasTimer: boolean;
  /** The last one before, or a principal of whom all come before. Undefined begins with the first. */
  readonly after: TaskRef | { readonly principal: string } | undefined;
  readonly limit: number;
}

/** A task whose timer is due. */
export interface DueTimer extends TaskRef {
  /** Milliseconds since 1970. */
  readonly wakeAt: number;
}

/** The result of a claim: from here on, nothing follows this end of the log but commits with this fence, or a later one. */
export type TaskClaim = Pick<StoredTask, "fence" | "tail">;

/** What the store knows of a task without reading its log: enough to end a task that cannot be read. */
export interface TaskWeight extends TaskRef {
  readonly index: TaskIndex;
  readonly tail: LogTail;
  readonly fence: number;
  /** About how many bytes `find` reads in the view `full`: the snapshot, and the payloads after it. */
  readonly bytes: number;
  /** The last value of `noteLoads`; 0 for most tasks. */
  readonly loads: number;
}

/** Position in a list: the last task of the page before. */
export interface ListCursor {
  readonly statusTimestamp: number;
  readonly taskId: string;
}

/** Which tasks to list; filters are combined with AND (spec §3.1.4). */
export interface TaskQuery {
  readonly owner: Owner;
  readonly contextId: string | undefined;
  readonly state: TaskState | undefined;
  /** Inclusive lower bound of the status timestamp, milliseconds (requirement A-45). */
  readonly since: number | undefined;
  readonly after: ListCursor | undefined;
  /** At least 1. */
  readonly limit: number;
  /**
   * Bytes of the page. It ends with the task whose payloads exceed this; no more of that task's log is read. It also
   * ends with a task whose log has very many entries. What the store reads and the view leaves out counts at least an eighth.
   */
  readonly maxBytes: number;
  readonly view: TaskView;
  /** Whether the caller has this view of the task whose log ends there. The store may leave out its snapshot and entries. */
  readonly isKnown?: ((taskId: string, tail: LogTail) => boolean) | undefined;
}

/** One page of a list. */
export interface TaskPage {
  /** Status timestamp descending, then task id descending (requirement A-41). */
  readonly tasks: readonly StoredTask[];
  /** The number of all matches, on all pages. */
  readonly totalSize: number;
  /** Whether more follow after the last of `tasks`. */
  readonly more: boolean;
}

/** How much a store has, and how much more it can take, in bytes, about. */
export interface StoreRoom {
  readonly used: number;
  /** Names what several stores share, such as a disk. Undefined: the store has its room alone. */
  readonly place?: string | undefined;
  /** What is left of its limit, or of its disk; infinite when nothing bounds it. */
  readonly free: number;
}

/**
 * Stores tasks durably. Every implementation passes `taskStoreContract` of `@a2a-connect/testing`.
 *
 * All methods reject with ConnectError `Unavailable` when the store cannot be reached; then nothing is half-written.
 * Sequences are numbers, not bigints: no disk holds 2^53 entries.
 *
 * `share` names the caller whose write it is, for turns where writes wait; it is not stored. Undefined: not known.
 */
export interface TaskStore {
  /**
   * Atomically appends entries, if the log still ends at `expectedSequence` and the fence is current. Resolves when
   * they are durable. The store may group commits of one process to different tasks; commits to one task keep their
   * order.
   */
  commit(commit: TaskCommit): Promise<CommitResult>;

  /**
   * Claims the task for writing: raises its fence, so that commits with an earlier fence are refused.
   *
   * @returns undefined when the owner has no such task
   */
  claim(owner: Owner, taskId: string, share?: string): Promise<TaskClaim | undefined>;

  /** The owner's task, or undefined. A task of another owner and a missing one look the same (spec §3.3.2). */
  find(owner: Owner, taskId: string, view: TaskView): Promise<StoredTask | undefined>;

  /** The owner's tasks that match, newest status first. */
  list(query: TaskQuery): Promise<TaskPage>;

  /**
   * One bounded page of events after `generation`, oldest first: at most `limit`, and no further event once the
   * payloads, or what the store has read for them, exceed 1 MiB. Empty when there is none, or no such task of this owner.
   */
  events(owner: Owner, taskId: string, after: number, limit: number): Promise<readonly LogEvent[]>;

  /**
   * One bounded page of the entries after `after` that the view shows, oldest first: at most `limit`, and no further one once the
   * payloads, or what the store has read for them, exceed 1 MiB. Empty when there is none, or no such task of this owner.
   *
   * @param after zeros, or the `end` of another page of either view
   */
  entries(owner: Owner, taskId: string, after: LogTail, view: LogView, limit: number): Promise<LogPage>;

  /** The result of the first request with this key of the owner's, or undefined. */
  findKey(owner: Owner, key: string): Promise<StoredKey | undefined>;

  /** The direct Message that is kept for a key of the owner's; undefined when there is none, or none any more. */
  findReply(owner: Owner, key: string): Promise<Message | undefined>;

  /**
   * Stores the direct Message that answers a key's request until `expiresAt` (milliseconds since 1970). Returns false,
   * and changes nothing, when the key is taken.
   */
  putReply(
    owner: Owner,
    key: RequestKey,
    message: Message,
    expiresAt: number,
    share?: string,
  ): Promise<boolean>;

  /**
   * Tasks in SUBMITTED or WORKING, of all owners, by principal, then tenant, then id: after a crash, the tasks to take up. A store
   * that outlives a process should find them without passing those that the query leaves out, which may be many.
   */
  unfinished(query: UnfinishedQuery): Promise<readonly TaskRef[]>;

  /** The owner's task without its log, or undefined. Must work for a task whose log and snapshot cannot be read. */
  weigh(owner: Owner, taskId: string): Promise<TaskWeight | undefined>;

  /**
   * Stores with the task how many loads of it began without success; 0 resets the count. Has no effect when the owner
   * has no such task. Calls made in one turn of the event loop should share one write.
   */
  noteLoads(owner: Owner, taskId: string, loads: number, share?: string): Promise<void>;

  /** Tasks whose `wakeAt` is not after `until`, of all owners, earliest first, then by id. @param after the last one before */
  due(until: number, limit: number, after?: DueTimer): Promise<readonly DueTimer[]>;

  /**
   * Due deliveries. A delivery without an event is never due. It becomes due in the same commit that stores its event.
   */
  dueDeliveries(query: DueQuery): Promise<DueDeliveries>;

  /** Those of one task that are due at once (`dueAt` 0), by number, at most `limit`. */
  dueDeliveriesOf(owner: Owner, taskId: string, limit: number): Promise<readonly Delivery[]>;

  /** Moves a delivery's cursor. Has no effect when the config has been removed or replaced since. */
  moveDelivery(move: DeliveryMove, share?: string): Promise<void>;

  /**
   * Removes some of what has expired: whole tasks with log, journal, keys and configs, and kept Messages. A task
   * disappears at once for all callers, and its keys are free; later calls may remove its rows.
   *
   * @returns whether there may be more to remove
   */
  expire(expiry: Expiry): Promise<boolean>;

  /**
   * Stores a config under its `taskId` and `id`; returns false when the owner has no such task. A new config gets later
   * events. One that replaces another continues at the other's cursor.
   */
  putPushConfig(owner: Owner, config: TaskPushNotificationConfig, share?: string): Promise<boolean>;

  /** The owner's config, or undefined. */
  findPushConfig(owner: Owner, taskId: string, id: string): Promise<TaskPushNotificationConfig | undefined>;

  /** Configs of a task by id after `after`, at most `limit`; undefined when the owner has no such task. */
  listPushConfigs(
    owner: Owner,
    taskId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly TaskPushNotificationConfig[] | undefined>;

  /**
   * The ids of a task's configs, at most `limit`, in any order; undefined when the owner has no such task. It must not read the
   * configs: each may have 16 KiB, and callers can make the server ask for this as often as they like.
   */
  pushConfigIds(owner: Owner, taskId: string, limit: number): Promise<readonly string[] | undefined>;

  /** Removes a config for good; a missing one is no error. Returns false when the owner has no such task. */
  deletePushConfig(owner: Owner, taskId: string, id: string, share?: string): Promise<boolean>;

  /**
   * How much room there is: the engine lets one caller take only its part of it (`limits.maxShare`). A store without this
   * member is one that nothing bounds. Must be cheap: the engine asks once a second. When it throws, the engine goes on with what
   * it was told before, and what is written tells why.
   */
  room?(): StoreRoom;

  /** Waits for running commits and closes files and connections. Further calls reject. */
  close(): Promise<void>;
}
