import { canTransition, isTerminal } from "@a2a-connect/core";
import { applyStep, copyTask } from "@a2a-connect/core/internal";
import { type StreamResponse, type Task, TaskSchema, TaskState, TaskStatusSchema } from "@a2a-connect/proto";
import { create, equals } from "@bufbuild/protobuf";
import { InvalidResponseError } from "../errors.ts";
import { reconcile } from "./reconcile.ts";
import { TaskSize } from "./task-size.ts";
import { stateOf } from "./task-status.ts";

/** A message of a stream with the number of its event, if the server numbers events. */
export interface NumberedResponse {
  readonly response: StreamResponse;
  readonly id: number | undefined;
  /** It has the same generation as the event before it on its connection. */
  readonly repeatsGeneration?: boolean;
}

const hint = "The server does not follow the A2A protocol, or is newer than this client.";

/** Events before this one are missing: the client must ask for them. */
export class EventGapError extends Error {}

/**
 * The only object that knows how far a task has been seen. Over any number of connections, each event goes out once and
 * in order.
 */
export class TaskTracker {
  /** The task as of the last event that went out. With `after`, it contains only the events since. */
  task: Task | undefined;
  /** Number of the last event that went out; undefined when events are not numbered, or none has been seen. */
  position: number | undefined;
  /** Whether the task is the same as the server's: every event was seen, or the task was last read as a whole. */
  isExact = false;
  readonly #size: TaskSize;
  #taskId: string | undefined;
  /** When a peer gives two events one generation, its generations have no meaning (requirement R-2). */
  #trustsGenerations = true;

  /**
   * @param position the last event that is known already
   * @param maxBytes what its artifacts may weigh together
   */
  constructor(position?: number, maxBytes: number = Number.POSITIVE_INFINITY) {
    this.position = position;
    this.#size = new TaskSize(maxBytes);
  }

  /** The task's id, which may be known before any event. */
  get taskId(): string | undefined {
    return this.task?.id ?? this.#taskId;
  }

  /** The task exists now, although none of its events came yet. */
  expect(taskId: string): void {
    this.#taskId = taskId;
  }

  /**
   * Takes a message of a stream.
   *
   * @returns the events that are new
   * @throws EventGapError when events before it are missing
   * @throws InvalidResponseError when it has no content, or belongs to another task
   * @throws ContentTooLargeError when the task has grown beyond its limit
   */
  accept({ response, id: counted, repeatsGeneration }: NumberedResponse): readonly StreamResponse[] {
    const { payload } = response;
    if (repeatsGeneration === true && counted === undefined) {
      this.#trustsGenerations = false;
      this.position = undefined;
    }
    const id = (this.#trustsGenerations ? generationOf(response) : undefined) ?? counted;
    switch (payload.case) {
      case "message":
        if (this.task !== undefined) {
          throw new InvalidResponseError("The agent sent a direct message into the stream of a task.", {
            hint: "The server does not follow the A2A protocol: once there is a task, its replies are part of it.",
          });
        }
        return [response];
      case "task":
        return this.#acceptTask(response, payload.value, id);
      case "statusUpdate":
      case "artifactUpdate":
        return this.#acceptUpdate(response, payload, id);
      case undefined:
        throw new InvalidResponseError("The agent sent an event without any content.", {
          hint,
        });
    }
  }

  /** Takes the current task, like a Task in a stream without a number. */
  acceptSnapshot(task: Task): readonly StreamResponse[] {
    return this.#acceptTask(
      { $typeName: "lf.a2a.v1.StreamResponse", payload: { case: "task", value: task } },
      task,
      this.#trustsGenerations ? toNumber(task.generation) : undefined,
    );
  }

  /** Whether the current task has something that did not go out yet. */
  isBehind(task: Task): boolean {
    return this.task === undefined || reconcile(this.task, task).length > 0;
  }

  #acceptTask(response: StreamResponse, task: Task, id: number | undefined): readonly StreamResponse[] {
    this.#checkTask(task.id);
    const { task: known, position } = this;
    if (id !== undefined && position !== undefined && id <= position && known !== undefined) {
      return [];
    }
    if (known !== undefined && isTerminal(stateOf(known))) {
      return [];
    }
    const events = known === undefined ? [response] : reconcile(known, task);
    this.#size.add(response);
    this.isExact = true;
    this.task = copyTask(task);
    if (id !== undefined || events.length > 0) {
      this.position = id; // without a number, how many events it contains is not known
    }
    return events;
  }

  #acceptUpdate(
    response: StreamResponse,
    payload: Extract<StreamResponse["payload"], { case: "statusUpdate" | "artifactUpdate" }>,
    id: number | undefined,
  ): readonly StreamResponse[] {
    const { taskId, contextId } = payload.value;
    this.#checkTask(taskId);
    const { position } = this;
    if (id !== undefined && position !== undefined) {
      if (id <= position) {
        return [];
      }
      if (id > position + 1) {
        this.expect(taskId);
        throw new EventGapError(`event ${id} came after event ${position}`);
      }
    }
    this.task ??= create(TaskSchema, { id: taskId, contextId });
    if (isTerminal(stateOf(this.task)) || (id === undefined && isRepeat(this.task, payload))) {
      return [];
    }
    this.#size.add(response);
    fold(this.task, payload);
    this.position = id;
    this.isExact = id !== undefined && position !== undefined;
    return [response];
  }

  #checkTask(taskId: string): void {
    if (this.taskId !== undefined && this.taskId !== taskId) {
      throw new InvalidResponseError("The agent sent an event of another task into this task's stream.", {
        hint,
      });
    }
  }
}

/** Whether a status repeats what is known. A repeated chunk cannot be recognised. */
function isRepeat(task: Task, payload: StreamResponse["payload"]): boolean {
  const status = payload.case === "statusUpdate" ? payload.value.status : undefined;
  return (
    status?.timestamp !== undefined &&
    task.status !== undefined &&
    equals(TaskStatusSchema, status, task.status)
  );
}

/**
 * Like the server's own fold, but tolerant of unusual or newer servers: it accepts an unknown state, or a state that
 * should not follow the last one.
 */
function fold(
  task: Task,
  payload: Extract<StreamResponse["payload"], { case: "statusUpdate" | "artifactUpdate" }>,
): void {
  if (payload.case === "artifactUpdate") {
    if (payload.value.artifact === undefined) {
      throw new InvalidResponseError("The agent sent an artifact update without an artifact.", { hint });
    }
    applyStep(task, payload);
    return;
  }
  const { status } = payload.value;
  if (status === undefined) {
    throw new InvalidResponseError("The agent sent a status update without a status.", { hint });
  }
  if (canTransition(stateBefore(task), status.state)) {
    applyStep(task, payload);
  } else {
    task.status = status;
  }
}

function stateBefore(task: Task): TaskState | undefined {
  const state = stateOf(task);
  return state === TaskState.UNSPECIFIED ? undefined : state;
}

/** A2A 1.1 has the number in the message; 0 means that the server does not number events (requirement R-2). */
function generationOf({ payload }: StreamResponse): number | undefined {
  switch (payload.case) {
    case "task":
    case "statusUpdate":
    case "artifactUpdate":
      return toNumber(payload.value.generation);
    default:
      return undefined;
  }
}

function toNumber(generation: bigint): number | undefined {
  return generation > 0n ? Number(generation) : undefined;
}
