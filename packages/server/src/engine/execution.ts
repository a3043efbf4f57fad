import type { Runnable } from "./capacity/scheduler.ts";
import type { TurnAbort, TurnAbortCause } from "./turn-abort.ts";

/** Code of an agent at work on one task, whatever its kind; detached from the call that started it. */
export interface Execution extends Runnable {
  /** Resolves when nothing more will come of it, and all it did is durable or has been given up. */
  readonly done: Promise<void>;
  /** When it is done: whether it could not go on because the store could not be read. */
  readonly needsRecovery: boolean;
  /** Whether its code has been called. */
  readonly begun: boolean;
  /** Whether it does nothing but wait for somebody, or for a time. */
  readonly isResting: boolean;
  /** Tells the executor to stop; it has the agent's grace period for that. */
  abort(cause: TurnAbortCause, metadata?: TurnAbort["metadata"]): void;
  /** Its task has ended without it: whatever it still does is refused. Its signal aborts with `cause`. */
  giveUp(cause?: TurnAbortCause, metadata?: TurnAbort["metadata"]): void;
}

/** Whatever an iterable gives, as an async iterator. */
export function iterate<Event>(events: AsyncIterable<Event> | Iterable<Event>): AsyncIterator<Event> {
  return Symbol.asyncIterator in events
    ? events[Symbol.asyncIterator]()
    : fromSync(events[Symbol.iterator]());
}

/** A list takes no `throw`: what is thrown at its `yield` goes right through it. */
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
