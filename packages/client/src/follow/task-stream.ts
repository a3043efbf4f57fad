import type { StreamResponse, Task } from "@a2a-connect/proto";
import type { TaskStream } from "../agent-client.ts";
import type { TaskTracker } from "./task-tracker.ts";

/** A task's events as the caller gets them. Nothing happens before somebody iterates. */
export class TrackedStream implements TaskStream {
  readonly #tracker: TaskTracker;
  readonly #open: () => AsyncGenerator<StreamResponse, void>;
  #iterated = false;

  constructor(tracker: TaskTracker, open: () => AsyncGenerator<StreamResponse, void>) {
    this.#tracker = tracker;
    this.#open = open;
  }

  get task(): Task | undefined {
    return this.#tracker.task;
  }

  get lastEventId(): number | undefined {
    return this.#tracker.position;
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamResponse> {
    if (this.#iterated) {
      throw new Error("the stream of a task can be iterated over once");
    }
    this.#iterated = true;
    return this.#open();
  }
}
