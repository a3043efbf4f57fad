import type { JsonObject } from "@bufbuild/protobuf";
import type { Runnable } from "./capacity/scheduler.ts";
import type { Clock } from "./clock.ts";

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
  /** Of one that may rest: whether it stays in memory in any case. */
  readonly mustStay?: boolean;
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

/** How long an executor may go on after it was told to stop, by default. */
export const defaultCancelGraceMs = 10_000;

/** Why a running turn is told to stop. */
export type TurnAbortCause = "canceled" | "deadline" | "inactive" | "lost" | "shutdown";

/** `turn.signal.reason`: why the work should stop and, on cancel, the caller's metadata (requirement A-33). */
export class TurnAbort extends Error {
  override readonly cause: TurnAbortCause;
  /** `CancelTaskRequest.metadata`. */
  readonly metadata: JsonObject | undefined;

  constructor(cause: TurnAbortCause, metadata?: JsonObject) {
    super(sentences[cause]);
    this.name = "AbortError";
    this.cause = cause;
    this.metadata = metadata;
  }
}

const sentences: Readonly<Record<TurnAbortCause, string>> = {
  canceled: "the task was canceled",
  deadline: "the task's deadline has passed",
  inactive: "the agent has been silent for too long",
  lost: "this server no longer holds the task",
  shutdown: "the server is shutting down",
};

/** How long an executor may yield nothing by default. */
const defaultInactivityTimeoutMs = 1_800_000;

/**
 * Detects an executor that was silent for too long. It has one timer. When that fires, it looks when the executor last
 * yielded. It uses a clock that is never set, so that setting the time of day does not look like silence.
 */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limitMs: number | false;
  readonly #onSilence: () => void;
  #heardAt: number;
  #cancelTimer: () => void = () => {};
  /** What the executor waits for: parts of it may wait for several things. */
  readonly #pauses = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(clock: Clock, limitMs: number | false | undefined, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs ?? defaultInactivityTimeoutMs;
    this.#onSilence = onSilence;
    this.#heardAt = clock.ticks();
  }

  /** The executor has yielded. */
  heard(): void {
    this.#heardAt = this.#clock.ticks();
  }

  /** Begins to watch; earlier time does not count. */
  start(): void {
    this.#isStopped = false;
    this.heard();
    this.watch();
  }

  /** Watches on, counting from the executor's last event. */
  watch(): void {
    this.#cancelTimer();
    if (this.#limitMs === false || this.#pauses.size > 0) {
      return;
    }
    const leftMs = this.#heardAt + this.#limitMs - this.#clock.ticks();
    if (leftMs <= 0) {
      this.#onSilence();
    } else {
      this.#cancelTimer = this.#clock.schedule(leftMs, () => this.watch());
    }
  }

  /** Watches no more, unless it starts again. */
  stop(): void {
    this.#isStopped = true;
    this.#pauses.clear();
    this.#cancelTimer();
    this.#cancelTimer = () => {};
  }

  /** Does not watch while the executor waits for us. */
  async pauseFor<Result>(room: Promise<Result>): Promise<Result> {
    if (this.#isStopped) return room;
    this.#cancelTimer();
    this.#pauses.add(room);
    try {
      return await room;
    } finally {
      const isPaused = this.#pauses.delete(room); // otherwise it was stopped
      if (isPaused && this.#pauses.size === 0) this.start();
    }
  }
}
