import { isTerminal } from "@a2a-connect/core";
import type { Message, Task } from "@a2a-connect/proto";
import { type CommittedEvent, findState } from "./events.ts";

/** A task as its callers may see it at one moment. */
export interface SeenTask {
  /** Does not change when the task goes on. */
  readonly task: Task;
  /** Generation of the last event that is folded into it. */
  readonly generation: number;
}

/** The result of a send. */
export type Sent = { readonly kind: "message"; readonly message: Message } | TaskHandle;

/** A place in the events of a task, for one caller. */
interface EventReader {
  /** Generation after which the consequences of the caller's message begin; 0 when it created the task. */
  readonly accepted: number;
  /** Generation of the last event that the caller has, or that is folded into the stream's first. */
  readonly cursor: number;
  /** Every event after a generation, in order and each once, until the task ends. */
  eventsAfter(generation: number, signal: AbortSignal): AsyncIterable<CommittedEvent>;
  /** Releases what is held for the caller. Call it once, in `finally`. */
  release(): void;
}

/** The last events of a task that has ended; the task itself is not in memory. */
export interface EndedTaskReader extends EventReader {
  takeFirst(): undefined;
}

/** A task held in memory for one caller. */
export interface TaskHandle extends EventReader {
  readonly kind: "task";
  /** The current task, as callers may see it. */
  seen(): SeenTask;
  /** About the task's size in memory, in bytes. @param historyLength how much of its history is shown; only to show none counts less */
  weigh(historyLength: number | undefined): number;
  /** The task at its first interrupted or terminal event after `accepted`. */
  settled(signal: AbortSignal): Promise<SeenTask>;
  /**
   * The beginning of a stream; undefined for a stream of events only, because the caller has or wants all of them. It is
   * given once, and before `settled`: a call may go on for hours, and keeps nothing of the task as it was.
   */
  takeFirst(): SeenTask | undefined;
}

/**
 * The handle of a message that waits for its turn. When the task ends without reading the message, its sender gets an
 * error.
 */
export class QueuedHandle implements TaskHandle {
  readonly kind = "task";
  readonly #handle: TaskHandle;
  readonly #assertTaken: () => void | Promise<void>;

  /** @param assertTaken throws when the task has ended without a turn for the message */
  constructor(handle: TaskHandle, assertTaken: () => void | Promise<void>) {
    this.#handle = handle;
    this.#assertTaken = assertTaken;
  }

  get accepted(): number {
    return this.#handle.accepted;
  }

  get cursor(): number {
    return this.#handle.cursor;
  }

  takeFirst(): SeenTask | undefined {
    return this.#handle.takeFirst();
  }

  seen(): SeenTask {
    return this.#handle.seen();
  }

  weigh(historyLength: number | undefined): number {
    return this.#handle.weigh(historyLength);
  }

  async settled(signal: AbortSignal): Promise<SeenTask> {
    const seen = await this.#handle.settled(signal);
    await this.#assertTaken();
    return seen;
  }

  async *eventsAfter(generation: number, signal: AbortSignal): AsyncGenerator<CommittedEvent> {
    for await (const event of this.#handle.eventsAfter(generation, signal)) {
      if (isTerminal(findState(event.response))) {
        await this.#assertTaken(); // a reader stops at the last event, so this comes in its place
      }
      yield event;
    }
  }

  release(): void {
    this.#handle.release();
  }
}
