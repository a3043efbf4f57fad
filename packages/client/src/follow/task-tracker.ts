import { canTransition, isSettled, isTerminal } from "@a2a-connect/core";
import { applyStep, isSame, shareTask, stateOf } from "@a2a-connect/core/internal";
import { type StreamResponse, type Task, TaskSchema, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { InvalidResponseError } from "../errors.ts";
import { reconcile } from "./reconcile.ts";
import type { NumberedResponse } from "./sources/source.ts";
import { TaskSize } from "./task-size.ts";
import { isSameStatus } from "./task-status.ts";

const hint = "The server does not follow the A2A protocol, or is newer than this client.";

/** Events before this one are missing: the client must ask for them. */
export class EventGapError extends Error {}

/**
 * The only object that knows how far a task has been seen. Over any number of connections, each event goes out once and
 * in order.
 *
 * An event's number has several names: `id` of a response, `generation` in A2A 1.1, `position` for the last one that went
 * out, which the client sends as `Last-Event-ID`.
 */
export class TaskTracker {
  readonly #size: TaskSize;
  #taskId: string | undefined;
  #task: Task | undefined;
  #position: number | undefined;
  #isExact = false;
  #isWhole = false;
  #ignored: TaskStatus | undefined;
  /** When a peer gives two events one generation, its generations have no meaning (requirement R-2). */
  #trustsGenerations = true;

  /**
   * @param position the last event that is known already
   * @param maxBytes what its artifacts may weigh together
   */
  constructor(position?: number, maxBytes: number = Number.POSITIVE_INFINITY) {
    this.#position = position;
    this.#size = new TaskSize(maxBytes);
  }

  /** The task as of the last event that went out. With a position at the start, it contains only the events since. */
  get task(): Task | undefined {
    return this.#task;
  }

  /** Number of the last event that went out; undefined when events are not numbered, or none has been seen. */
  get position(): number | undefined {
    return this.#position;
  }

  /** Whether the task is the same as the server's: every event was seen, or the task was last read as a whole. */
  get isExact(): boolean {
    return this.#isExact;
  }

  /** Whether all of the task was seen at some time, and not only its events after a position. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The task's id, which may be known before any event. */
  get taskId(): string | undefined {
    return this.#task?.id ?? this.#taskId;
  }

  /** Whether there is nothing more to wait for. A status from before the message does not count as settled. */
  isOver(until: "settled" | "terminal"): boolean {
    const state = stateOf(this.#task);
    return until === "terminal" ? isTerminal(state) : isSettled(state) && !this.isIgnored(this.#task?.status);
  }

  /** Whether it is the status that the task had before the message. */
  isIgnored(status: TaskStatus | undefined): boolean {
    return this.#ignored !== undefined && isSameStatus(status, this.#ignored);
  }

  /** The task has this status before the message for it is sent; the agent may send it once more. */
  ignore(status: TaskStatus): void {
    this.#ignored = status;
  }

  /** The server does not know the last event any more: from here on events are compared by their content. */
  forgetPosition(): void {
    this.#position = undefined;
  }

  /** The task exists now, although none of its events came yet. */
  expect(taskId: string): void {
    this.#taskId = taskId;
  }

  /**
   * Takes a response of a source: a message of a stream, the answer to a poll, a notification.
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
      this.#position = undefined;
    }
    const id = (this.#trustsGenerations ? generationOf(response) : undefined) ?? counted;
    switch (payload.case) {
      case "message":
        if (this.taskId !== undefined) {
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
    this.#size.add(response, known);
    this.#isExact = true;
    this.#isWhole = true;
    this.#task = shareTask(task); // hundreds of followers may have got it
    if (id !== undefined || events.length > 0) {
      this.#position = id; // without a number, how many events it contains is not known
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
    this.#task ??= create(TaskSchema, { id: taskId, contextId });
    if (isTerminal(stateOf(this.#task)) || (id === undefined && isRepeat(this.#task, payload))) {
      return [];
    }
    this.#size.add(response, this.#task);
    fold(this.#task, payload);
    this.#position = id;
    this.#isExact = id !== undefined && position !== undefined;
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
  return status?.timestamp !== undefined && task.status !== undefined && isSame(status, task.status);
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

/** A2A 1.1 has the number in the message; undefined when the server does not number events (requirement R-2). */
export function generationOf({ payload }: StreamResponse): number | undefined {
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
