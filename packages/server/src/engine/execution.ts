import type { Runnable } from "./capacity/scheduler.ts";
import type { TurnAbort, TurnAbortCause } from "./turn-abort.ts";

/** An agent's code at work on one task, of either kind; detached from the call that started it. */
export interface Execution extends Runnable {
  /** Resolves when no more events will come, and all its work is durable or was given up. */
  readonly done: Promise<void>;
  /** After `done`: whether it stopped because the store could not be read. */
  readonly needsRecovery: boolean;
  /** Whether its code has been called. */
  readonly begun: boolean;
  /** Whether it only waits, for a message or for a time. */
  readonly isResting: boolean;
  /** Tells the executor to stop; it has the agent's grace period for that. */
  abort(cause: TurnAbortCause, metadata?: TurnAbort["metadata"]): void;
  /** Its task has ended without it: its later events are refused. Its signal aborts with `cause`. */
  giveUp(cause?: TurnAbortCause, metadata?: TurnAbort["metadata"]): void;
}

/** The values of an iterable, as an async iterator. */
export function iterate<Event>(events: AsyncIterable<Event> | Iterable<Event>): AsyncIterator<Event> {
  return Symbol.asyncIterator in events
    ? events[Symbol.asyncIterator]()
    : fromSync(events[Symbol.iterator]());
}

/** A list has no `throw`: an error thrown at its `yield` is thrown to the caller. */
function fromSync<Event>(iterator: Iterator<Event>): AsyncIterator<Event> {
  return {
    next: async () => iterator.next(),
    async throw(mistake) {
      if (iterator.throw === undefined) {
        throw mistake;
      }
      return iterator.throw(mistake);
    },
    return: async () => iterator.return?.() ?? { done: true, value: undefined },
  };
}
