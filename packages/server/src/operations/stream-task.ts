import { eventIdHeader } from "@a2a-connect/bindings";
import { sendHeadNow } from "@a2a-connect/bindings/server";
import { invalidParams, isTerminal } from "@a2a-connect/core";
import { lastEventIdHeader, stateOf } from "@a2a-connect/core/internal";
import type { StreamResponse } from "@a2a-connect/proto";
import type { HandlerContext } from "@connectrpc/connect";
import { type CommittedEvent, taskEvent } from "../engine/events.ts";
import { taskBytes } from "../engine/memory-weight.ts";
import type { CountBytes } from "../engine/read-task.ts";
import type { EndedTaskReader, TaskHandle } from "../engine/task-handle.ts";
import { answerCounterOf, showEvent, showTask } from "./operation.ts";

/** The differences between the streams of the two operations. */
export interface StreamOptions {
  readonly historyLength?: number | undefined;
  /** Whether an event after `handle.accepted` is the last of the stream. Default: only the task's last event is. */
  readonly closes?: (response: StreamResponse) => boolean;
}

/**
 * A task's stream: the task first (requirement A-22) unless the caller resumes after an event, then every later event,
 * until one that `closes` or the task's last. Releases the handle.
 *
 * The id of the first message is sent as a header, so that a caller can count on every wire (docs/streams.md).
 */
export function streamTask(
  handle: TaskHandle | EndedTaskReader,
  context: HandlerContext,
  options: StreamOptions = {},
): AsyncIterableIterator<StreamResponse> {
  return new TaskStream(handle, context, options);
}

/** Not a generator, because a generator keeps the event that it has given last, which may be large, while it waits for the next. */
class TaskStream implements AsyncIterableIterator<StreamResponse> {
  readonly #handle: TaskHandle | EndedTaskReader;
  readonly #context: HandlerContext;
  readonly #options: StreamOptions;
  readonly #count: CountBytes;
  #events: AsyncIterator<CommittedEvent> | undefined;
  /** What was counted for the event that was given last. */
  #counted = 0;
  #begun = false;
  /** Nothing comes after what was given last. */
  #isOver = false;
  #released = false;

  constructor(handle: TaskHandle | EndedTaskReader, context: HandlerContext, options: StreamOptions) {
    this.#handle = handle;
    this.#context = context;
    this.#options = options;
    this.#count = answerCounterOf(context);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<StreamResponse>> {
    if (this.#counted > 0) this.#count(-this.#counted); // a reader that asks for the next event has taken this one
    this.#counted = 0;
    try {
      const value = (await this.#begin()) ?? (await this.#nextEvent());
      return value === undefined ? await this.return() : { done: false, value };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<StreamResponse>> {
    this.#isOver = true;
    try {
      await this.#events?.return?.();
    } finally {
      if (!this.#released) {
        this.#released = true;
        this.#handle.release();
      }
    }
    return { done: true, value: undefined };
  }

  /** The current task, once. */
  async #begin(): Promise<StreamResponse | undefined> {
    if (this.#begun) return undefined;
    this.#begun = true;
    const handle = this.#handle;
    const first = handle.takeFirst();
    this.#context.responseHeader.set(eventIdHeader, String(first?.generation ?? handle.cursor + 1));
    // A reader of a task that has ended has events alone.
    if (first === undefined || !("settled" in handle)) {
      sendHeadNow(this.#context); // the next event may take long, and the caller waits for that id
      return undefined;
    }
    if (isTerminal(stateOf(first.task))) {
      this.#isOver = true;
      await handle.settled(this.#context.signal); // throws when the task has ended without reading the caller's message
    }
    const { historyLength } = this.#options;
    return this.#give(taskEvent(showTask(first, this.#context, historyLength)), handle.weigh(historyLength));
  }

  /** The next event that the caller lacks; undefined when there are no more. */
  async #nextEvent(): Promise<StreamResponse | undefined> {
    const { cursor, accepted } = this.#handle;
    const { historyLength, closes = () => false } = this.#options;
    while (!this.#isOver) {
      // The caller may have the event that closed the stream already. It is read again, and not sent again.
      this.#events ??= this.#handle
        .eventsAfter(Math.min(accepted, cursor), this.#context.signal)
        [Symbol.asyncIterator]();
      const { done, value: event } = await this.#events.next();
      if (done === true) break;
      this.#isOver = event.generation > accepted && closes(event.response);
      if (event.generation > cursor) {
        const shown = showEvent(event, this.#context, historyLength);
        const isCreation = shown.payload.case === "task"; // of which all but its history is small
        return this.#give(shown, isCreation && historyLength === 0 ? taskBytes : event.weight);
      }
    }
    return undefined;
  }

  #give(response: StreamResponse, bytes: number): StreamResponse {
    this.#count(bytes);
    this.#counted = bytes;
    return response;
  }
}

/**
 * The event after which a caller wants a stream to continue, from the header or the metadata `Last-Event-ID`; undefined
 * when it names none (requirement A-36). Event ids are the generations of a task.
 *
 * @throws ConnectError InvalidArgument when it is no decimal number, negative, or larger than any event id
 */
export function readLastEventId({
  requestHeader,
}: Pick<HandlerContext, "requestHeader">): number | undefined {
  const value = requestHeader.get(lastEventIdHeader);
  if (value === null) {
    return undefined;
  }
  const id = Number(value);
  if (!/^(0|[1-9]\d*)$/.test(value) || !Number.isSafeInteger(id)) {
    throw invalidParams({
      field: lastEventIdHeader,
      description: "must be the id of an event: a decimal number, 0 for all events from the creation on",
    });
  }
  return id;
}
