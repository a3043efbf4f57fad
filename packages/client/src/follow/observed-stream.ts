import { LinkedAbort } from "@a2a-connect/core/internal";
import type { StreamResponse, Task } from "@a2a-connect/proto";
import type { TaskStream } from "../agent-client.ts";
import type { ClientContext } from "../client-context.ts";
import type { Observation } from "./observation.ts";
import { observe } from "./observe.ts";

/** A task's events for the caller. Nothing happens before the caller iterates. */
export class ObservedStream implements TaskStream {
  readonly #context: ClientContext;
  readonly #observation: Observation;
  #iterated = false;

  constructor(context: ClientContext, observation: Observation) {
    this.#context = context;
    this.#observation = observation;
  }

  get task(): Task | undefined {
    return this.#observation.tracker.task;
  }

  get lastEventId(): number | undefined {
    return this.#observation.tracker.position;
  }

  /**
   * An iterator whose `return()` ends a pending read. A generator's would wait for the read, on a silent task for ever.
   */
  [Symbol.asyncIterator](): AsyncIterator<StreamResponse> {
    if (this.#iterated) {
      throw new Error("the stream of a task can be iterated over once");
    }
    this.#iterated = true;
    const ending = new LinkedAbort(this.#observation.signal);
    const reader = { ending, hasLeft: false };
    const events = observe(this.#context, { ...this.#observation, signal: ending.signal }, reader);
    return {
      next: () => events.next(),
      async return() {
        reader.hasLeft = true;
        ending.abort(new Error("the caller has left"));
        ending[Symbol.dispose]();
        await events.return().catch(() => {}); // it ends with the reason of the abort
        return { done: true, value: undefined };
      },
    };
  }
}
