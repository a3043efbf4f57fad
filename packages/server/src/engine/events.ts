import { formatTaskState, type LifecycleReport, text } from "@a2a-connect/core";
import { formatLifecycleReport, statusOfEvent } from "@a2a-connect/core/internal";
import {
  type Artifact,
  type Message,
  MessageSchema,
  type Part,
  Role,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskState,
  type TaskStatus,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

/** The task of an event. */
export interface TaskName {
  readonly taskId: string;
  readonly contextId: string;
}

/** A new status: its state, its message and its report. */
export interface StatusInit {
  readonly state: TaskState;
  readonly parts?: readonly Part[];
  readonly report?: LifecycleReport;
}

/** The event that changes a task's status. It has a message when there is a text or a report. */
export function statusEvent(
  name: TaskName,
  init: StatusInit,
  at: number,
  randomId: () => string,
): StreamResponse {
  const message = statusMessage(name, init, randomId);
  return create(StreamResponseSchema, {
    payload: {
      case: "statusUpdate",
      value: {
        ...name,
        status: {
          state: init.state,
          timestamp: timestampFromMs(at),
          ...(message === undefined ? {} : { message }),
        },
      },
    },
  });
}

/** The event that adds to or replaces an artifact. */
export function artifactEvent(
  name: TaskName,
  artifact: Artifact,
  append: boolean,
  lastChunk: boolean,
): StreamResponse {
  return create(StreamResponseSchema, {
    payload: { case: "artifactUpdate", value: { ...name, artifact, append, lastChunk } },
  });
}

/** The event that carries a whole task: the first of every log. */
export function taskEvent(task: Task): StreamResponse {
  return create(StreamResponseSchema, { payload: { case: "task", value: task } });
}

/** The agent's reply, with or without a task. */
export function agentReply(name: Partial<TaskName>, parts: readonly Part[], randomId: () => string): Message {
  return create(MessageSchema, { ...name, messageId: randomId(), role: Role.AGENT, parts: [...parts] });
}

/** The status SUBMITTED at a time. */
export function submittedStatus(at: number): TaskStatus {
  return create(TaskStatusSchema, { state: TaskState.SUBMITTED, timestamp: timestampFromMs(at) });
}

/** The state to which an event changes the task; UNSPECIFIED when it does not change the state. */
export function findState(event: StreamResponse): TaskState {
  return statusOfEvent(event)?.state ?? TaskState.UNSPECIFIED;
}

function statusMessage(
  name: TaskName,
  { state, parts = [], report = {} }: StatusInit,
  randomId: () => string,
): Message | undefined {
  const metadata = formatLifecycleReport(report);
  if (parts.length === 0 && metadata === undefined) {
    return undefined;
  }
  const message = agentReply(name, parts.length === 0 ? [text(summary(state, report))] : parts, randomId);
  return metadata === undefined ? message : { ...message, metadata };
}

/** A text for a report without one: a message needs at least one part (requirement H-7). */
function summary(state: TaskState, { progress }: LifecycleReport): string {
  return progress === undefined ? formatTaskState(state) : `${Math.round(progress * 100)} %`;
}

/** About the memory for the objects of one event, beside its content: for small events they are the larger part. */
const objectBytes = 512;

/** An event that has been committed. All its readers get the same objects, and must not change them. */
export class CommittedEvent {
  /** Also its event id (docs/streams.md). */
  readonly generation: number;
  readonly response: StreamResponse;
  /** About its size in memory. */
  readonly weight: number;
  #numbered: StreamResponse | undefined;

  /** @param weight of its content, also of what belongs to the task: it may drop that sooner */
  constructor(generation: number, response: StreamResponse, weight: number) {
    this.generation = generation;
    this.response = response;
    this.weight = weight + objectBytes;
  }

  /** The event for callers of A2A 1.1, with its generation; made when the first of them reads it (requirement R-1). */
  get numberedResponse(): StreamResponse {
    this.#numbered ??= numberResponse(this.response, BigInt(this.generation));
    return this.#numbered;
  }
}

function numberResponse(response: StreamResponse, generation: bigint): StreamResponse {
  const { payload } = response;
  switch (payload.case) {
    case "task":
      return { ...response, payload: { case: "task", value: { ...payload.value, generation } } };
    case "statusUpdate":
      return { ...response, payload: { case: "statusUpdate", value: { ...payload.value, generation } } };
    case "artifactUpdate":
      return { ...response, payload: { case: "artifactUpdate", value: { ...payload.value, generation } } };
    case "message":
    case undefined:
      return response;
  }
}

/** The bytes that events in memory may have together, of all tasks of a process or of all agents that share it. */
export class EventBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isExceeded(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Takes `bytes` more; a negative number gives them back. */
  take(bytes: number): void {
    this.#bytes += bytes;
  }
}
