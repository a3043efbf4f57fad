import { StreamResponseSchema, TaskSchema } from "@a2a-connect/proto";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { PlacedEntry, ReadBytes } from "./log-page.ts";
import { storedBytes } from "./segment.ts";
import type { EntryKind, LogView, Snapshot, StoredTask, TaskQuery, TaskView } from "./task-store.ts";

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

/**
 * The entries of a view, each cut when it is read. Entries that the view leaves out must be removed before.
 *
 * @param reading counts their payloads
 */
export function* viewEntries(
  placed: Iterable<PlacedEntry>,
  view: LogView,
  reading: ReadBytes = { bytes: 0 },
): Iterable<PlacedEntry> {
  for (const each of placed) {
    reading.bytes += each.entry.payload.byteLength;
    if (each.entry.kind !== "task" || showsHistory(view)) {
      yield each;
      continue;
    }
    const payload = withoutHistory.task(each.entry.payload);
    yield { ...each, entry: { ...each.entry, payload } };
  }
}

/** A task in a view, and how many bytes were read for it, also of what the view leaves out. */
export interface ViewedTask {
  /** A value that the store cuts later is still whole, and all its bytes count. */
  readonly task: StoredTask;
  readonly readBytes: number;
}

/** A snapshot in a view. @param reading counts what the view needs of it */
export function viewSnapshot(
  { sequence, head: whole, artifacts }: Snapshot,
  view: TaskView,
  reading: ReadBytes,
): Snapshot {
  const head = showsHistory(view) ? whole : withoutHistory.head(whole);
  const shown = showsArtifacts(view) ? artifacts : undefined;
  reading.bytes += whole.byteLength + (shown?.byteLength ?? 0);
  return { sequence, head, artifacts: shown };
}

/** What a task counts towards the bytes of its page: what a view leaves out counts an eighth. */
export function countForPage({ task, readBytes }: ViewedTask): number {
  const bytes = storedBytes(task);
  return bytes + Math.max(0, readBytes - bytes) / 8;
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

  /** When the next task exceeds this, no more of its log is read. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  add(viewed: ViewedTask): void {
    const { task } = viewed;
    this.tasks.push(task);
    this.#bytesLeft -= countForPage(viewed);
    this.#isFull = this.tasks.length >= this.#limit || this.#bytesLeft < 0 || task.more !== undefined;
  }
}

/** Makes in steps what a view shows of a value, so that other calls can run in between. */
export type CutInSteps = (value: Uint8Array) => Generator<void, Uint8Array>;

/** Fields after which a step ends: a history may have tens of thousands of messages. */
const stepFields = 4_096;

/**
 * What a view without history has of the payload of a `task` entry, and of the head of a snapshot. What is damaged stays as it
 * is: a page of tasks does not fail because of one, and decoding that one tells what is wrong.
 */
export const withoutHistoryInSteps: { readonly task: CutInSteps; readonly head: CutInSteps } = {
  task: (payload) => unlessDamaged(cutTaskEvent, payload),
  head: (head) => unlessDamaged(cutHistory, head),
};

/** The same at once. */
export const withoutHistory: {
  task(payload: Uint8Array): Uint8Array;
  head(head: Uint8Array): Uint8Array;
} = {
  task: (payload) => cutAtOnce(withoutHistoryInSteps.task(payload)),
  head: (head) => cutAtOnce(withoutHistoryInSteps.head(head)),
};

function cutAtOnce(steps: Generator<void, Uint8Array>): Uint8Array {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function* unlessDamaged(cut: CutInSteps, bytes: Uint8Array): Generator<void, Uint8Array> {
  try {
    return yield* cut(bytes);
  } catch {
    return bytes;
  }
}

/** A StreamResponse that is a task, without the task's history. */
function* cutTaskEvent(response: Uint8Array): Generator<void, Uint8Array> {
  const reader = new BinaryReader(response);
  const { number } = StreamResponseSchema.field.task;
  const writer = new BinaryWriter();
  let isCut = false;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === number && wireType === WireType.LengthDelimited) {
      const whole = reader.bytes();
      const task = yield* cutHistory(whole);
      isCut ||= task !== whole;
      writer.tag(number, WireType.LengthDelimited).bytes(task);
    } else {
      writer.tag(field, wireType).raw(reader.skip(wireType, field));
    }
  }
  return isCut ? writer.finish() : response;
}

/** A Task in protobuf without its history, made without decoding. */
function* cutHistory(task: Uint8Array): Generator<void, Uint8Array> {
  const { number } = TaskSchema.field.history;
  const reader = new BinaryReader(task);
  const writer = new BinaryWriter();
  let kept = 0;
  for (let fields = 1; reader.pos < reader.len; fields += 1) {
    if (fields % stepFields === 0) yield;
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
