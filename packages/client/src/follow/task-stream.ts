import type { StreamResponse, Task } from "@a2a-connect/proto";
import type { TaskStream } from "../agent-client.ts";
import { explainFailure } from "../failure.ts";
import type { TaskTracker } from "./task-tracker.ts";

/** A task's events for the caller. Nothing happens before the caller iterates. */
export class TrackedStream implements TaskStream {
  readonly #tracker: TaskTracker;
  readonly #signal: AbortSignal;
  readonly #open: (signal: AbortSignal) => AsyncGenerator<StreamResponse, void>;
  #iterated = false;

  /** @param open begins; its signal aborts with `signal`, and when the caller stops iterating */
  constructor(
    tracker: TaskTracker,
    signal: AbortSignal,
    open: (signal: AbortSignal) => AsyncGenerator<StreamResponse, void>,
  ) {
    this.#tracker = tracker;
    this.#signal = signal;
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
    return leavable(this.#open, this.#signal);
  }
}

/**
 * A generator whose `return()` ends a pending read. An ordinary generator would wait for the read, on a silent task for
 * ever.
 */
function leavable<T>(
  open: (signal: AbortSignal) => AsyncGenerator<T, void>,
  signal: AbortSignal,
): AsyncIterator<T> {
  const left = new AbortController();
  const events = open(AbortSignal.any([signal, left.signal]));
  return {
    async next() {
      try {
        return await events.next();
      } catch (error) {
        if (left.signal.aborted) {
          return { done: true, value: undefined };
        }
        throw explainFailure(error);
      }
    },
    async return() {
      left.abort(new Error("the caller has left"));
      await events.return().catch(() => {}); // it ends with the reason of the abort
      return { done: true, value: undefined };
    },
  };
}
