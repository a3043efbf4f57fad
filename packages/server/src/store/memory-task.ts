import { countFirst } from "@a2a-connect/core/internal";
import type { TaskPushNotificationConfig } from "@a2a-connect/proto";
import { type PlacedEntry, takeLogPage, taskPageLimit } from "./log-page.ts";
import type {
  LogEntry,
  LogEvent,
  LogPage,
  LogTail,
  LogView,
  Owner,
  Snapshot,
  TaskCommit,
  TaskIndex,
  TaskView,
  TaskWeight,
} from "./task-store.ts";
import { type ViewedTask, viewEntries, viewedKinds, viewSnapshot } from "./task-view.ts";

/** A push config and its cursor in the memory store. */
export interface MemoryDelivery {
  readonly number: number;
  /** What it takes in memory, about. */
  readonly bytes: number;
  readonly config: TaskPushNotificationConfig;
  readonly next: number;
  readonly attempts: number;
  /** Undefined: there is no event to deliver. */
  readonly dueAt: number | undefined;
}

/** A task in the memory store. */
export interface MemoryTask {
  readonly owner: Owner;
  readonly taskId: string;
  index: TaskIndex;
  tail: LogTail;
  fence: number;
  /** See `TaskStore.noteLoads`. */
  loads: number;
  snapshot: Snapshot | undefined;
  /** Generation of the log at the snapshot. */
  snapshotGeneration: number;
  /** The whole log: `entries[n]` has sequence n + 1. */
  readonly entries: LogEntry[];
  /** Its events: `events[n]` has generation n + 1. */
  readonly events: LogEvent[];
  /** Its other entries, oldest first. */
  readonly notes: PlacedEntry[];
  /** By the id of their push config. */
  readonly deliveries: Map<string, MemoryDelivery>;
  /** Idempotency keys of its messages. */
  readonly keys: string[];
  /** What a load of it reads, see `TaskWeight`: a sum over a long log would take too long for each call that asks. */
  storedBytes: number;
  /** What it takes in memory, about. */
  bytes: number;
}

/** What a task takes besides its entries, and an entry besides its payload: the objects, as measured. */
const [taskBytes, entryBytes] = [2_048, 512];

/** A task without a log. */
export function createMemoryTask({ owner, taskId, index }: TaskCommit): MemoryTask {
  return {
    owner,
    taskId,
    index,
    tail: { sequence: 0, generation: 0 },
    fence: 1,
    loads: 0,
    snapshot: undefined,
    snapshotGeneration: 0,
    entries: [],
    events: [],
    notes: [],
    deliveries: new Map(),
    keys: [],
    storedBytes: 0,
    bytes: taskBytes,
  };
}

/** Appends the entries of a decided commit: after it the log ends at `tail`. Costs only the commit's entries. */
export function appendTo(task: MemoryTask, { entries, index, snapshot }: TaskCommit, tail: LogTail): void {
  let reached = task.tail.generation;
  for (const entry of entries) {
    task.entries.push(entry);
    if (isEvent(entry)) {
      task.events.push(entry);
      reached = entry.generation;
    } else {
      task.notes.push({ entry, reached });
    }
    const { length } = entry.payload;
    task.storedBytes += length;
    task.bytes += entryBytes + length;
  }
  task.index = index;
  task.tail = tail;
  if (snapshot !== undefined) {
    task.storedBytes = snapshotBytes(snapshot);
    task.bytes += task.storedBytes - snapshotBytes(task.snapshot);
    task.snapshot = snapshot;
    task.snapshotGeneration = tail.generation;
  }
}

/** The task for `TaskStore.find`, and how many bytes were read for it. */
export function readTask(task: MemoryTask, view: TaskView, maxBytes?: number): ViewedTask {
  const { owner, taskId, index, tail, fence, snapshot, snapshotGeneration } = task;
  const begin = { sequence: snapshot?.sequence ?? 0, generation: snapshotGeneration };
  const reading = { bytes: 0 };
  const placed = viewEntries(entriesAfter(task, begin, view), view, reading);
  const { entries, end, more } = takeLogPage(placed, begin, tail, taskPageLimit, maxBytes);
  const viewed = snapshot && viewSnapshot(snapshot, view, reading);
  return {
    task: { owner, taskId, index, tail, fence, snapshot: viewed, entries, more: more ? end : undefined },
    readBytes: reading.bytes,
  };
}

/** The task for `TaskStore.weigh`. */
export function toTaskWeight(task: MemoryTask): TaskWeight {
  const { owner, taskId, index, tail, fence, loads, storedBytes } = task;
  return { owner, taskId, index, tail, fence, loads, bytes: storedBytes };
}

function snapshotBytes(snapshot: Snapshot | undefined): number {
  return (snapshot?.head.length ?? 0) + (snapshot?.artifacts?.length ?? 0);
}

/** One page of the log, with the limits of `TaskStore.entries`. */
export function readLogPage(task: MemoryTask, after: LogTail, view: LogView, limit: number): LogPage {
  const placed = view === "notes" ? notesAfter(task, after) : entriesAfter(task, after, view);
  return takeLogPage(viewEntries(placed, view), after, task.tail, limit);
}

/** The events after a generation, each read when it is asked for. */
export function* eventsAfter({ events }: MemoryTask, generation: number): Iterable<LogEvent> {
  for (let at = generation; at < events.length; at += 1) {
    const event = events[at];
    if (event !== undefined) yield event;
  }
}

function* entriesAfter(
  { entries }: MemoryTask,
  { sequence, generation }: LogTail,
  view: LogView,
): Iterable<PlacedEntry> {
  const kinds = viewedKinds[view];
  let reached = generation;
  for (let at = sequence; at < entries.length; at += 1) {
    const entry = entries[at];
    if (entry === undefined) return;
    reached = entry.generation ?? reached;
    if (kinds.includes(entry.kind)) yield { entry, reached };
  }
}

function* notesAfter({ notes }: MemoryTask, { sequence }: LogTail): Iterable<PlacedEntry> {
  for (let at = countFirst(notes, ({ entry }) => entry.sequence <= sequence); at < notes.length; at += 1) {
    const note = notes[at];
    if (note !== undefined) yield note;
  }
}

function isEvent(entry: LogEntry): entry is LogEvent {
  return entry.generation !== undefined;
}
