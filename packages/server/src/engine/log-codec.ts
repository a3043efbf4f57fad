import { applyStep, type TaskStep } from "@a2a-connect/core";
import {
  ArtifactSchema,
  type Message,
  MessageSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
} from "@a2a-connect/proto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { EntryKind, LogEntry, LogEvent, Snapshot, StoredTask } from "../store/task-store.ts";

/** A step with its encoding, made once when it is accepted. */
export interface EncodedStep {
  readonly step: TaskStep;
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
}

/** What was let in was checked then; protobuf-es's own limit is below ours, and a task that cannot be read again is lost. */
const unlimited = { recursionLimit: Number.POSITIVE_INFINITY };

const eventKinds = { task: "task", statusUpdate: "status", artifactUpdate: "artifact" } as const;

/** An event of a task as it goes into the log. */
export function encodeEvent(response: StreamResponse): EncodedStep {
  const { payload } = response;
  if (payload.case === undefined || payload.case === "message") {
    throw new Error("only tasks and their updates go into a log");
  }
  return { step: payload, kind: eventKinds[payload.case], payload: toBinary(StreamResponseSchema, response) };
}

/** A caller's message as it goes into the log. */
export function encodeInput(message: Message): EncodedStep {
  return {
    step: { case: "input", value: message },
    kind: "input",
    payload: toBinary(MessageSchema, message),
  };
}

/** The wire event that an entry holds. */
export function decodeEvent(event: LogEvent): StreamResponse {
  return fromBinary(StreamResponseSchema, event.payload, unlimited);
}

/**
 * A task as the store has it: the snapshot, and the entries after it folded in.
 *
 * @throws Error when the log is empty or was damaged
 */
export function foldStoredTask({ snapshot, entries }: StoredTask): Task {
  let task = snapshot === undefined ? undefined : decodeSnapshot(snapshot);
  for (const entry of entries) {
    const step = decodeStep(entry);
    if (step !== undefined) {
      task = applyStep(task, step);
    }
  }
  if (task === undefined) {
    throw new Error("the log of a stored task is empty");
  }
  return task;
}

/** The fold in two halves; protobuf merges them again when their bytes are joined. */
export function encodeSnapshot(task: Task, sequence: number): Snapshot {
  return {
    sequence,
    head: toBinary(TaskSchema, { ...task, artifacts: [] }),
    artifacts: toBinary(TaskSchema, create(TaskSchema, { artifacts: task.artifacts })),
  };
}

/** Bytes of a folded task without its artifacts. */
export function headLength(task: Task): number {
  return toBinary(TaskSchema, { ...task, artifacts: [] }).length;
}

/** Bytes that each artifact of a folded task takes, by id. */
export function artifactSizes(task: Task): Map<string, number> {
  return new Map(
    task.artifacts.map((artifact) => [artifact.artifactId, toBinary(ArtifactSchema, artifact).length]),
  );
}

function decodeSnapshot({ head, artifacts }: Snapshot): Task {
  if (artifacts === undefined) {
    return fromBinary(TaskSchema, head, unlimited);
  }
  const whole = new Uint8Array(head.length + artifacts.length);
  whole.set(head);
  whole.set(artifacts, head.length);
  return fromBinary(TaskSchema, whole, unlimited);
}

function decodeStep(entry: LogEntry): TaskStep | undefined {
  switch (entry.kind) {
    case "task":
    case "status":
    case "artifact":
      return fromBinary(StreamResponseSchema, entry.payload, unlimited).payload;
    case "input":
      return { case: "input", value: fromBinary(MessageSchema, entry.payload, unlimited) };
    case "command":
    case "journal":
      return undefined;
  }
}
