import type { Message, TaskPushNotificationConfig, TaskState } from "@a2a-connect/proto";

/** Whose a task is. Everything a caller may reach is looked up by it, so a foreign task and none at all look the same. */
export interface Owner {
  /** Routing key of the request, "" without one (spec §3.1, field `tenant`). */
  readonly tenant: string;
  /** Stable id of who calls. */
  readonly principal: string;
}

/**
 * What an entry of a task's log is (docs/architecture.md, "A task is a log").
 *
 * `task`, `status` and `artifact` are events: each has a generation and was or will be seen on the wire. The others
 * are never seen: `input` is folded into history, `command` and `journal` are the engine's own.
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

/** Where a log ends: the numbers of its last entry and of its last event; zeros for a log that is not there. */
export interface LogTail {
  readonly sequence: number;
  readonly generation: number;
}

/**
 * What is read of a task and its log: what callers may see of it, as far as the view goes. What a view leaves out is not
 * read where it lies by itself (entries, halves of snapshots), and never decoded.
 *
 * - `full`: history and artifacts; everything but `command` and `journal`.
 * - `head`: no artifacts, neither their entries nor their half of the snapshot.
 * - `results`: no history: no `input` entries, and a `task` entry and a snapshot come without it.
 * - `summary`: neither.
 */
export type TaskView = "full" | "head" | "results" | "summary";

/** Which entries of a log to read: all, those of a task's view, or what callers never see (`input`, `command`, `journal`). */
export type LogView = "all" | TaskView | "notes";

/** One bounded page of a log. */
export interface LogPage {
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** Where the page ends: what the next page begins after. */
  readonly end: LogTail;
  /** Whether more may follow. */
  readonly more: boolean;
}

/** A caller's idempotency key: one of its owner's, and what the request looked like that came with it first. */
export interface RequestKey {
  /** Unique for an owner; it names the agent, too. */
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

/** A webhook and how far it has been told: a cursor over the log of its task. */
export interface Delivery {
  /** Names this registration; a config that is replaced gets a new one. */
  readonly number: number;
  readonly owner: Owner;
  readonly taskId: string;
  readonly config: TaskPushNotificationConfig;
  /** Generation of the event to deliver next. */
  readonly next: number;
  /** Failed attempts since the last success. */
  readonly attempts: number;
  /** When to try (milliseconds since 1970); 0: at once. */
  readonly dueAt: number;
}

/** Where a delivery goes on. */
export interface DeliveryMove extends Pick<Delivery, "number" | "next" | "attempts"> {
  /** When to try again. Undefined: when there is an event of generation `next`, which may be at once. */
  readonly retryAt: number | undefined;
}

/** Which due deliveries to read. */
export interface DueQuery {
  /** The time, milliseconds since 1970. */
  readonly now: number;
  /** Nothing is put off beyond this time; what seems to be was put off by a clock that has been set back since, and is due. */
  readonly latest: number;
  /** Number of the delivery whose turn was last; 0 begins with the lowest. */
  readonly after: number;
  /** How many of each kind, at most. */
  readonly limit: number;
}

/** What is due, of all owners: each kind in its own order, so that none of one keeps any of the other from being read. */
export interface DueDeliveries {
  /** Due at once (`dueAt` 0), in turns: by number from the one after `after` on, then from the lowest; each once. */
  readonly fresh: readonly Delivery[];
  /** Put off until a time that has come: earliest first, and those beyond `latest` last. */
  readonly retries: readonly Delivery[];
  /** When the next that is put off will be due (milliseconds since 1970); undefined: none is. */
  readonly nextAt: number | undefined;
}

/** What may be forgotten. */
export interface Expiry {
  /** Tasks in a terminal state since before this time (milliseconds since 1970) go; undefined: none. */
  readonly finishedBefore: number | undefined;
  /** Kept direct Messages whose `expiresAt` is before this time go. */
  readonly now: number;
  /** About how many rows may be removed in this call, so that none takes long. */
  readonly limit: number;
}

/**
 * A task folded up to `sequence`, in two halves, so that a list need not read artifacts. Each half is a protobuf Task;
 * the concatenation of both is the whole one.
 */
export interface Snapshot {
  readonly sequence: number;
  /** Task without artifacts. */
  readonly head: Uint8Array;
  /** Task with artifacts only; undefined when the view leaves them out. */
  readonly artifacts: Uint8Array | undefined;
}

/** What lists filter and order by, and when the task wants to be looked at again. */
export interface TaskIndex {
  readonly contextId: string;
  readonly state: TaskState;
  /** Milliseconds since 1970, as in `status.timestamp`. */
  readonly statusTimestamp: number;
  /** When a timer of the task is due (milliseconds since 1970): its deadline or a question's timeout. */
  readonly wakeAt: number | undefined;
}

/** Something appended to one task's log. */
export interface TaskCommit {
  readonly owner: Owner;
  readonly taskId: string;
  /** The tail that the writer knows; 0 creates the task, which must not exist. */
  readonly expectedSequence: number;
  /** The fence that `claim` gave, 1 for a task that is created. */
  readonly fence: number;
  /** Numbered from `expectedSequence + 1` on; at least one. */
  readonly entries: readonly LogEntry[];
  /** The index after these entries. */
  readonly index: TaskIndex;
  /**
   * Written only when the log has grown by twice what the fold weighs. Covers the log up to this commit's
   * last entry; replaces the snapshot before.
   */
  readonly snapshot: Snapshot | undefined;
  /**
   * Push configs that come with the message which creates or continues the task. They are told of the events of this
   * commit, too.
   */
  readonly pushConfigs: readonly TaskPushNotificationConfig[];
  /** Idempotency keys of the messages that these entries take in; kept as long as the task. */
  readonly keys: readonly TaskKey[];
}

/** What became of a commit. A refused one has written nothing. */
export type CommitResult =
  /** `deliveryDue`: it has an event, and the task has a webhook that is to be told of it. */
  | { readonly tail: LogTail; readonly deliveryDue: boolean }
  /**
   * `conflict`: the log does not end at `expectedSequence`; `fenced`: somebody else has claimed the task since;
   * `duplicate`: one of the keys is taken, or comes twice.
   */
  | { readonly refused: "conflict" | "fenced" | "duplicate"; readonly tail: LogTail };

/** A task as it lies in the store: fold the snapshot, then the entries. */
export interface StoredTask {
  readonly owner: Owner;
  readonly taskId: string;
  readonly index: TaskIndex;
  readonly tail: LogTail;
  readonly fence: number;
  readonly snapshot: Snapshot | undefined;
  /** What the view shows of the log after the snapshot, oldest first: one page, as `TaskStore.entries` bounds it. */
  readonly entries: readonly LogEntry[];
  /** Where that page ends and the next one begins, in the same view; undefined when there is no more. */
  readonly more: LogTail | undefined;
}

/** A task by name only. */
export interface TaskRef {
  readonly owner: Owner;
  readonly taskId: string;
}

/** What is known of a task without reading its log: enough to end one that cannot be read. */
export interface TaskWeight extends TaskRef {
  readonly index: TaskIndex;
  readonly tail: LogTail;
  readonly fence: number;
  /** About how many bytes `claim` reads: the snapshot, and the payloads after it. */
  readonly bytes: number;
  /** What `noteLoads` was told last; 0 for most tasks. */
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
   * Bytes of the page: it ends with the task that brings its payloads over this, of whose log no more is read then, or whose
   * log has very many entries. What a view cuts out of a payload counts an eighth.
   */
  readonly maxBytes: number;
  readonly view: TaskView;
}

/** One page of a list. */
export interface TaskPage {
  /** Status timestamp descending, then task id descending (requirement A-41). */
  readonly tasks: readonly StoredTask[];
  /** All matches, whatever the page. */
  readonly totalSize: number;
  /** Whether more follow after the last of `tasks`. */
  readonly more: boolean;
}

/**
 * Durable home of tasks. Every implementation passes `taskStoreContract` of `@a2a-connect/testing`.
 *
 * All methods reject with ConnectError `Unavailable` when the store cannot be reached; nothing is half-written then.
 * Numbers are plain: 2^53 entries fit no disk.
 */
export interface TaskStore {
  /**
   * Atomically appends entries, if the log still ends at `expectedSequence` and the fence is current. Resolves when
   * they are durable. Commits of one process to different tasks may be grouped; to one task they keep their order.
   */
  commit(commit: TaskCommit): Promise<CommitResult>;

  /**
   * Takes the task for writing and reads it: raises its fence, so that every earlier holder's commits are refused.
   *
   * @returns the task in the view `full` with the new fence, or undefined when the owner has no such task
   */
  claim(owner: Owner, taskId: string): Promise<StoredTask | undefined>;

  /** The owner's task, or undefined. Foreign and missing tasks look the same (spec §3.3.2). */
  find(owner: Owner, taskId: string, view: TaskView): Promise<StoredTask | undefined>;

  /** The owner's tasks that match, newest status first. */
  list(query: TaskQuery): Promise<TaskPage>;

  /**
   * One bounded page of events after `generation`, oldest first: at most `limit`, and no further event once the
   * payloads exceed 1 MiB. Empty when there is none, or no such task of this owner.
   */
  events(owner: Owner, taskId: string, after: number, limit: number): Promise<readonly LogEvent[]>;

  /**
   * One bounded page of the entries after `after`, oldest first: at most `limit`, and no further one once the payloads
   * exceed 1 MiB. Empty when there is none, or no such task of this owner. What the view leaves out is not read.
   *
   * @param after zeros, or the `end` of another page of either view
   */
  entries(owner: Owner, taskId: string, after: LogTail, view: LogView, limit: number): Promise<LogPage>;

  /** What became of the request that first came with this key of the owner's, or undefined. */
  findKey(owner: Owner, key: string): Promise<StoredKey | undefined>;

  /** The direct Message that is kept for a key of the owner's; undefined when there is none, or none any more. */
  findReply(owner: Owner, key: string): Promise<Message | undefined>;

  /**
   * Keeps the direct Message that answers a key's request until `expiresAt` (milliseconds since 1970); false, and
   * nothing changes, when the key is taken.
   */
  putReply(owner: Owner, key: RequestKey, message: Message, expiresAt: number): Promise<boolean>;

  /** Tasks in SUBMITTED or WORKING, of all owners, by id after `after`: what a crash has left behind. */
  unfinished(after: string | undefined, limit: number): Promise<readonly TaskRef[]>;

  /** The owner's task without its log, or undefined. Must work for a task whose log and snapshot cannot be read. */
  weigh(owner: Owner, taskId: string): Promise<TaskWeight | undefined>;

  /**
   * Keeps with the task how many loads of it were begun and have not ended well; 0 forgets that. Nothing happens when the
   * owner has no such task. Calls made in one turn of the event loop should share one write.
   */
  noteLoads(owner: Owner, taskId: string, loads: number): Promise<void>;

  /** Tasks whose `wakeAt` is not after `until`, of all owners, earliest first. */
  due(until: number, limit: number): Promise<readonly (TaskRef & { readonly wakeAt: number })[]>;

  /**
   * Deliveries whose time has come. One without an event to deliver is never due; one becomes due in the very commit that
   * brings its event.
   */
  dueDeliveries(query: DueQuery): Promise<DueDeliveries>;

  /** Moves a delivery's cursor; nothing happens when the config has been removed or replaced since. */
  moveDelivery(move: DeliveryMove): Promise<void>;

  /**
   * Forgets some of what has expired: whole tasks with log, journal, keys and configs, and kept Messages. A task is gone
   * at once for everybody, and its keys are free; its rows may go in later calls.
   *
   * @returns whether there may be more to do
   */
  expire(expiry: Expiry): Promise<boolean>;

  /**
   * Stores a config under its `taskId` and `id`; false when the owner has no such task. A new one is told of what comes
   * after; one that replaces another goes on where that one was.
   */
  putPushConfig(owner: Owner, config: TaskPushNotificationConfig): Promise<boolean>;

  /** The owner's config, or undefined. */
  findPushConfig(owner: Owner, taskId: string, id: string): Promise<TaskPushNotificationConfig | undefined>;

  /** Configs of a task by id after `after`, at most `limit`; undefined when the owner has no such task. */
  listPushConfigs(
    owner: Owner,
    taskId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly TaskPushNotificationConfig[] | undefined>;

  /** Removes a config for good; a missing one is no error. False when the owner has no such task. */
  deletePushConfig(owner: Owner, taskId: string, id: string): Promise<boolean>;

  /** Waits for commits under way and lets go of files and connections. Further calls reject. */
  close(): Promise<void>;
}
