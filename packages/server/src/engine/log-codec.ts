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
import { weighStep } from "./weight.ts";

/** A step of the fold with its encoding, made once when it is accepted. */
export interface EncodedStep {
  readonly step: TaskStep;
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
  /** What it adds to the weight of its task (`weighStep`). */
  readonly weight: number;
}

const eventKinds = { task: "task", statusUpdate: "status", artifactUpdate: "artifact" } as const;

/** An event of a task, encoded for the log. */
export function encodeEvent(response: StreamResponse): EncodedStep {
  const { payload } = response;
  if (payload.case === undefined || payload.case === "message") {
    throw new Error("a log contains only tasks and their updates");
  }
  return encoded(payload, eventKinds[payload.case], encodeMessage(StreamResponseSchema, response));
}

/** A caller's message, encoded for the log. */
export function encodeInput(message: Message): EncodedStep {
  return encoded({ case: "input", value: message }, "input", encodeMessage(MessageSchema, message));
}

function encoded(step: TaskStep, kind: EntryKind, payload: Uint8Array): EncodedStep {
  return { step, kind, payload, weight: weighStep(step, payload.length) };
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
