import { a2aError } from "@a2a-connect/core";
import { applyStep, type DecodeOptions, decodeInSteps, type TaskStep } from "@a2a-connect/core/internal";
import {
  type Artifact,
  type Message,
  MessageSchema,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { ConnectError } from "@connectrpc/connect";
import { taskPageLimit } from "../store/log-page.ts";
import { storedBytes } from "../store/segment.ts";
import type { LogEntry, Snapshot, StoredTask, TaskStore, TaskView } from "../store/task-store.ts";
import { showsHistory } from "../store/task-view.ts";
import type { Clock } from "./clock.ts";
import { objectBytes, valueBytes, weighContent, weighStep } from "./memory-weight.ts";

/** Bytes that are decoded before other calls run. */
const turnBytes = 128 * 1024;

/** What a value in data or metadata counts besides its bytes: to keep a member of an object takes as long as 60 bytes of text. */
const valueTurnBytes = 32;

/** What an entry of a log counts besides its bytes: to decode and fold one of few bytes takes as long as half a kilobyte of text. */
export const entryBytes: number = 512;

/** Divides what is decoded between turns of the event loop, in which other calls run: of one task, or of all tasks of a page. */
export class DecodingTurns {
  readonly #clock: Pick<Clock, "nextTurn">;
  #bytes = 0;

  constructor(clock: Pick<Clock, "nextTurn">) {
    this.#clock = clock;
  }

  /** Counts values of data and metadata that were decoded just now, for the next `count`. */
  readonly countValues = (values: number): void => {
    this.#bytes += values * valueTurnBytes;
  };

  /** Counts bytes. @returns what to wait for before more is decoded; undefined: nothing */
  count(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes;
    if (this.#bytes <= turnBytes) return undefined;
    this.#bytes = 0;
    return this.#clock.nextTurn();
  }
}

/** Counts bytes that an answer keeps in memory until the caller has read it; throws when there is no room for them. */
export type CountBytes = (bytes: number) => void;

/** What is needed to read a task. */
export interface TaskSource {
  readonly store: Pick<TaskStore, "entries">;
  readonly clock: Pick<Clock, "nextTurn">;
}

/** A task that was read from the store and folded, and its weight. */
export interface LoadedTask {
  readonly stored: Omit<StoredTask, "snapshot" | "entries" | "more">;
  readonly task: Task;
  /** Weight of everything folded, except artifacts and the messages of WORKING. */
  readonly headBytes: number;
  /** Weight that the log has grown by since the snapshot. */
  readonly grownBytes: number;
  /** Weight of each artifact, by id. */
  readonly artifactBytes: ReadonlyMap<string, number>;
}

/**
 * Folds a stored task: its snapshot, the entries that came with it, and page by page the later entries, up to the end
 * of its log. A large task is decoded in slices, and other calls run in between.
 *
 * @param view the view in which `stored` was read
 * @param count gets the number of bytes that are decoded next, or that what was decoded takes besides; may throw
 * @param turns of the page that the task is in
 * @throws Error when the log is empty or damaged; ConnectError TASK_NOT_FOUND when the task has expired meanwhile
 */
export async function readTask(
  { store, clock }: TaskSource,
  stored: StoredTask,
  view: TaskView,
  count: CountBytes = () => {},
  turns: DecodingTurns = new DecodingTurns(clock),
): Promise<LoadedTask> {
  const { snapshot, entries, more, ...rest } = stored;
  const fold = new TaskFold(view, count, turns.countValues);
  const run = async (steps: Iterable<number>): Promise<void> => {
    for (const bytes of steps) {
      const turn = turns.count(bytes);
      if (turn !== undefined) await turn;
    }
  };
  count(storedBytes(stored));
  await turns.count(storedBytes(stored)); // reading took time, too
  if (snapshot !== undefined) await run(fold.begin(snapshot));
  for (const entry of entries) await run(fold.add(entry));
  for (let next = more; next !== undefined && next.sequence < rest.tail.sequence; ) {
    const page = await store.entries(rest.owner, rest.taskId, next, view, taskPageLimit);
    if (page.end.sequence === next.sequence) throw taskNotFound(rest.taskId);
    count(storedBytes({ snapshot: undefined, entries: page.entries }));
    for (const entry of page.entries) {
      if (entry.sequence <= rest.tail.sequence) await run(fold.add(entry));
    }
    next = page.end;
  }
  return { stored: rest, ...fold.end() };
}

class TaskFold {
  readonly #view: TaskView;
  readonly #options: DecodeOptions;
  readonly #count: CountBytes;
  #task: Task | undefined;
  #headBytes = 0;
  #grownBytes = 0;
  readonly #artifactBytes = new Map<string, number>();

  /**
   * @param count gets what is decoded takes besides its bytes: values, and texts of two bytes a character
   * @param onValues gets the number of values that were decoded
   */
  constructor(view: TaskView, count: CountBytes, onValues: (values: number) => void) {
    this.#view = view;
    this.#count = count;
    this.#options = {
      onValues: (values) => {
        onValues(values);
        count(values * valueBytes);
      },
    };
  }

  *begin({ head, artifacts }: Snapshot): Generator<number, void> {
    const task = yield* decodeInSteps(TaskSchema, head, this.#options);
    this.#headBytes = head.length;
    for (const message of task.history) {
      this.#headBytes += this.#weighContent(message, 0);
      yield objectBytes;
    }
    if (artifacts !== undefined) {
      task.artifacts = (yield* decodeInSteps(TaskSchema, artifacts, this.#options)).artifacts;
      const sizes = lengthsOf(TaskSchema.field.artifacts.number, artifacts);
      for (const [at, artifact] of task.artifacts.entries()) {
        this.#artifactBytes.set(artifact.artifactId, this.#weighContent(artifact, sizes[at] ?? 0));
        yield objectBytes;
      }
    }
    this.#task = task;
  }

  *add(entry: LogEntry): Generator<number, void> {
    yield entryBytes;
    const step = yield* decodeStep(entry, this.#options);
    if (step === undefined) return;
    this.#task = applyStep(this.#task, step);
    if (!showsHistory(this.#view)) this.#task.history = []; // the agent's questions come into it, too
    const { weight, wide } = weighStep(step, entry.payload.length);
    if (wide > 0) this.#count(wide);
    this.#weigh(step, weight);
  }

  end(): Omit<LoadedTask, "stored"> {
    const task = this.#task;
    if (task === undefined) throw new Error("the log of a stored task is empty");
    return {
      task,
      headBytes: this.#headBytes,
      grownBytes: this.#grownBytes,
      artifactBytes: this.#artifactBytes,
    };
  }

  #weighContent(of: Message | Artifact, bytes: number): number {
    const { weight, wide } = weighContent(of, bytes);
    if (wide > 0) this.#count(wide);
    return weight;
  }

  #weigh(step: TaskStep, bytes: number): void {
    this.#grownBytes += bytes;
    if (step.case === "artifactUpdate") {
      const { artifact, append } = step.value;
      const id = artifact?.artifactId ?? "";
      this.#artifactBytes.set(id, bytes + (append ? (this.#artifactBytes.get(id) ?? 0) : 0));
    } else if (step.case !== "statusUpdate" || step.value.status?.state !== TaskState.WORKING) {
      this.#headBytes += bytes;
    }
  }
}

function* decodeStep(entry: LogEntry, options: DecodeOptions): Generator<number, TaskStep | undefined> {
  switch (entry.kind) {
    case "task":
    case "status":
    case "artifact":
      return (yield* decodeInSteps(StreamResponseSchema, entry.payload, options)).payload;
    case "input":
      return { case: "input", value: yield* decodeInSteps(MessageSchema, entry.payload, options) };
    case "command":
    case "journal":
      return undefined;
  }
}

/** Lengths of the messages in one field of an encoded message, in order. */
function lengthsOf(field: number, bytes: Uint8Array): readonly number[] {
  const lengths: number[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const start = reader.pos;
    reader.skip(wireType, number);
    if (number === field) lengths.push(reader.pos - start);
  }
  return lengths;
}

/** The same error for a missing task and for a task of another owner (requirement O-4). */
export function taskNotFound(taskId: string): ConnectError {
  return a2aError("TASK_NOT_FOUND", "there is no such task", { taskId });
}
