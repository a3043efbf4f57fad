import type { TaskStream } from "@a2a-connect/client";
import { formatTaskState } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import type { Output } from "../output.ts";

/** What is over by then needs no announcement: its result is as good. */
const delayMs = 1_000;

/**
 * Tells stderr which task is being waited for, as soon as that takes longer than a second: nothing else shows its id
 * before the end, and whatever happens to this process, the task can be found again.
 */
export class Announcement implements Disposable {
  readonly #output: Output;
  readonly #stream: TaskStream;
  readonly #timer: NodeJS.Timeout;
  #due = false;
  #made = false;

  constructor(output: Output, stream: TaskStream) {
    this.#output = output;
    this.#stream = stream;
    this.#timer = setTimeout(() => {
      this.#due = true;
      this.look().catch(() => {}); // nobody reads stderr any more
    }, delayMs);
  }

  /** Makes it, when it is time and the task is known. */
  async look(): Promise<void> {
    const { task } = this.#stream;
    if (this.#due && !this.#made && task !== undefined) {
      this.#made = true;
      const state = formatTaskState(task.status?.state ?? TaskState.UNSPECIFIED);
      await this.#output.note(`task ${task.id} is ${state}; Ctrl-C leaves it to itself`);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
