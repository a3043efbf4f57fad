import { decodeMessage, encodeMessage, type TaskStep } from "@a2a-connect/core/internal";
import {
  type Message,
  MessageSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { EntryKind, LogEvent, Snapshot } from "../store/task-store.ts";

/** A step of the fold with its encoding, made once when it is accepted. */
export interface EncodedStep {
  readonly step: TaskStep;
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
}

const eventKinds = { task: "task", statusUpdate: "status", artifactUpdate: "artifact" } as const;

/** An event of a task, encoded for the log. */
export function encodeEvent(response: StreamResponse): EncodedStep {
  const { payload } = response;
  if (payload.case === undefined || payload.case === "message") {
    throw new Error("a log contains only tasks and their updates");
  }
  return {
    step: payload,
    kind: eventKinds[payload.case],
    payload: encodeMessage(StreamResponseSchema, response),
  };
}

/** A caller's message, encoded for the log. */
export function encodeInput(message: Message): EncodedStep {
  return {
    step: { case: "input", value: message },
    kind: "input",
    payload: encodeMessage(MessageSchema, message),
  };
}

/** The wire event that an entry holds. */
export function decodeEvent(event: LogEvent): StreamResponse {
  return decodeMessage(StreamResponseSchema, event.payload);
}

/** The fold in two halves. To join their bytes merges them again, by protobuf's rules. */
export function encodeSnapshot(task: Task, sequence: number): Snapshot {
  return {
    sequence,
    head: encodeMessage(TaskSchema, { ...task, artifacts: [] }),
    artifacts: encodeMessage(TaskSchema, create(TaskSchema, { artifacts: task.artifacts })),
  };
}
