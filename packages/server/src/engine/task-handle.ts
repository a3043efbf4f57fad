import { isTerminal } from "@a2a-connect/core";
import type { CommittedEvent } from "./committed-event.ts";
import { findState } from "./events.ts";
import type { SeenTask } from "./seen-task.ts";
import type { TaskHandle } from "./task-engine.ts";

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
