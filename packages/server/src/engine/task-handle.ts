import { isTerminal } from "@a2a-connect/core";
import type { Message } from "@a2a-connect/proto";
import type { CommittedEvent } from "./committed-event.ts";
import { findState } from "./events.ts";
import type { SeenTask } from "./seen-task.ts";

/** What a send led to. */
export type Sent = { readonly kind: "message"; readonly message: Message } | TaskHandle;

/** A task held in memory for one caller. */
export interface TaskHandle {
  readonly kind: "task";
  /** The task as it may be seen now. */
  seen(): SeenTask;
  /** What the task takes in memory now, about, in bytes. */
  weigh(): number;
  /** Generation after which the consequences of the caller's message begin; 0 when it created the task. */
  readonly accepted: number;
  /** The task at its first interrupted or terminal event after `accepted`. */
  settled(signal: AbortSignal): Promise<SeenTask>;
  /** What a stream begins with; undefined for one of events only, because the caller has or wants all of them. */
  readonly first: SeenTask | undefined;
  /** Generation of the last event that the caller has, or that is folded into `first`. */
  readonly cursor: number;
  /** Every event after a generation, in order and each once, until the task ends. */
  eventsAfter(generation: number, signal: AbortSignal): AsyncIterable<CommittedEvent>;
  /** Lets go of the task. Must be called once, in `finally`. */
  release(): void;
}

/** The handle of a message that waits for its turn: its sender is told when the task has ended without reading it. */
export class QueuedHandle implements TaskHandle {
  readonly kind = "task";
  readonly #handle: TaskHandle;
  readonly #assertTaken: () => void | Promise<void>;

  /** @param assertTaken throws when the task has ended, and the message never came to its turn */
  constructor(handle: TaskHandle, assertTaken: () => void | Promise<void>) {
    this.#handle = handle;
    this.#assertTaken = assertTaken;
  }

  get accepted(): number {
    return this.#handle.accepted;
  }

  get first(): SeenTask | undefined {
    return this.#handle.first;
  }

  get cursor(): number {
    return this.#handle.cursor;
  }

  seen(): SeenTask {
    return this.#handle.seen();
  }

  weigh(): number {
    return this.#handle.weigh();
  }

  async settled(signal: AbortSignal): Promise<SeenTask> {
    const seen = await this.#handle.settled(signal);
    await this.#assertTaken();
    return seen;
  }

  async *eventsAfter(generation: number, signal: AbortSignal): AsyncGenerator<CommittedEvent> {
    for await (const event of this.#handle.eventsAfter(generation, signal)) {
      if (isTerminal(findState(event.response))) {
        await this.#assertTaken(); // whoever reads the last event reads no further, so this comes in its place
      }
      yield event;
    }
  }

  release(): void {
    this.#handle.release();
  }
}
