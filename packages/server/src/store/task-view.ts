import { StreamResponseSchema, TaskSchema } from "@a2a-connect/proto";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { PlacedEntry } from "./log-page.ts";
import { storedBytes } from "./segment.ts";
import type { EntryKind, LogView, StoredTask, TaskQuery, TaskView } from "./task-store.ts";

/** The kinds of entries in each view. */
export const viewedKinds: Readonly<Record<LogView, readonly EntryKind[]>> = {
  all: ["task", "status", "artifact", "input", "command", "journal"],
  full: ["task", "status", "artifact", "input"],
  head: ["task", "status", "input"],
  results: ["task", "status", "artifact"],
  summary: ["task", "status"],
  notes: ["input", "command", "journal"],
};

/** Whether a view has artifacts. */
export function showsArtifacts(view: TaskView): boolean {
  return view === "full" || view === "results";
}

/** Whether a view has the history of a task. */
export function showsHistory(view: LogView): boolean {
  return view !== "results" && view !== "summary";
}

/** The entries of a view, each cut when it is read. Entries that the view leaves out must be removed before. */
export function* viewEntries(
  placed: Iterable<PlacedEntry>,
  view: LogView,
  cut: { bytes: number } = { bytes: 0 },
): Iterable<PlacedEntry> {
  for (const each of placed) {
    if (each.entry.kind !== "task" || showsHistory(view)) {
      yield each;
      continue;
    }
    const payload = withoutHistory.task(each.entry.payload);
    cut.bytes += each.entry.payload.byteLength - payload.byteLength;
    yield { ...each, entry: { ...each.entry, payload } };
  }
}

/** A task in a view, and how many of the read bytes the view has cut out. */
export interface ViewedTask {
  readonly task: StoredTask;
  readonly cutBytes: number;
}

/**
 * Makes a task in a view.
 *
 * @param read has the whole head of the snapshot, and the entries from `viewEntries`
 * @param cutBytes how many bytes that has cut out
 */
export function viewTask(read: StoredTask, view: TaskView, cutBytes: number): ViewedTask {
  if (read.snapshot === undefined) return { task: read, cutBytes };
  const { sequence, head: whole, artifacts } = read.snapshot;
  const head = showsHistory(view) ? whole : withoutHistory.head(whole);
  const snapshot = { sequence, head, artifacts: showsArtifacts(view) ? artifacts : undefined };
  return { task: { ...read, snapshot }, cutBytes: cutBytes + whole.byteLength - head.byteLength };
}

/**
 * Collects a page of tasks. It is full with `limit` tasks, with more than `maxBytes`, or with a task that was not read to its
 * end. So the first task is always taken.
 */
export class TaskPageBuilder {
  readonly tasks: StoredTask[] = [];
  readonly #limit: number;
  #bytesLeft: number;
  #isFull = false;

  constructor({ limit, maxBytes }: Pick<TaskQuery, "limit" | "maxBytes">) {
    this.#limit = limit;
    this.#bytesLeft = maxBytes;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** @param read reads the next task, and no further page of its log beyond `maxBytes` */
  add(read: (maxBytes: number) => ViewedTask): void {
    const { task, cutBytes } = read(this.#bytesLeft);
    this.tasks.push(task);
    this.#bytesLeft -= storedBytes(task) + cutBytes / 8;
    this.#isFull = this.tasks.length >= this.#limit || this.#bytesLeft < 0 || task.more !== undefined;
  }
}

/**
 * What a view without history has of the payload of a `task` entry, and of the head of a snapshot. What is damaged stays as it
 * is: a page of tasks does not fail because of one, and decoding that one tells what is wrong.
 */
export const withoutHistory: {
  task(payload: Uint8Array): Uint8Array;
  head(head: Uint8Array): Uint8Array;
} = {
  task: (payload) => unlessDamaged(cutTaskEvent, payload),
  head: (head) => unlessDamaged(cutHistory, head),
};

function unlessDamaged(cut: (bytes: Uint8Array) => Uint8Array, bytes: Uint8Array): Uint8Array {
  try {
    return cut(bytes);
  } catch {
    return bytes;
  }
}

/** A StreamResponse that is a task, without the task's history. */
function cutTaskEvent(response: Uint8Array): Uint8Array {
  const reader = new BinaryReader(response);
  const { number } = StreamResponseSchema.field.task;
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === number && wireType === WireType.LengthDelimited) {
      writer.tag(number, WireType.LengthDelimited).bytes(cutHistory(reader.bytes()));
    } else {
      writer.tag(field, wireType).raw(reader.skip(wireType, field));
    }
  }
  return writer.finish();
}

/** A Task in protobuf without its history, made without decoding. */
function cutHistory(task: Uint8Array): Uint8Array {
  const { number } = TaskSchema.field.history;
  const reader = new BinaryReader(task);
  const writer = new BinaryWriter();
  let kept = 0;
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [field, wireType] = reader.tag();
    reader.skip(wireType, field);
    if (field === number) {
      writer.raw(task.subarray(kept, start));
      kept = reader.pos;
    }
  }
  return kept === 0 ? task : writer.raw(task.subarray(kept)).finish();
}
