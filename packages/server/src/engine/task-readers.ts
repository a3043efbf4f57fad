import { isSettled, isTerminal } from "@a2a-connect/core";
import type { Reader, Wakes } from "@a2a-connect/core/internal";
import type { TaskState } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Owner } from "../store/task-store.ts";
import type { EngineContext, EngineLimits } from "./engine-context.ts";
import type { EventPage } from "./event-pages.ts";
import { type CommittedEvent, type EventBudget, findState, type TaskName } from "./events.ts";
import { taskNotFound } from "./read-task.ts";

/** Events that a reader takes from memory at a time. */
const pageSize = 100;

interface ReadersContext extends Pick<EngineContext, "tailBudget" | "eventPages" | "wakes"> {
  readonly limits: Pick<EngineLimits, "maxTailBytes">;
}

/**
 * Gives the readers of one task its committed events. A reader is a cursor: it gets the newest events from memory,
 * older ones page by page from the store, and is woken when there are new ones.
 */
export class TaskReaders {
  readonly #context: ReadersContext;
  readonly #owner: Owner;
  readonly #name: TaskName;
  readonly #tail: LiveTail;
  readonly #waiting: WaitingReaders;
  #generation = 0;
  #ended = false;
  /** Newest event that settled the task, of those that this object has seen itself. */
  #settledGeneration = 0;
  /** Events up to this one were folded when the task was read. Only the log knows which of them settled the task. */
  #loadedGeneration = 0;
  #lost: ConnectError | undefined;

  constructor(context: ReadersContext, owner: Owner, name: TaskName) {
    this.#context = context;
    this.#owner = owner;
    this.#name = name;
    this.#waiting = new WaitingReaders(context.wakes.readers);
    this.#tail = new LiveTail(context.limits.maxTailBytes, context.tailBudget);
  }

  /** The task was read from the store at `generation`, in `state`. */
  load(generation: number, state: TaskState): void {
    this.#generation = generation;
    this.#ended = isTerminal(state);
    this.#settledGeneration = isSettled(state) ? generation : 0;
    this.#loadedGeneration = generation;
    this.#waiting.wake();
  }

  /** An event is durable; readers see it with the next `wake`. */
  publish(event: CommittedEvent): void {
    this.#tail.push(event);
    this.#generation = event.generation;
    const state = findState(event.response);
    if (isSettled(state)) {
      this.#settledGeneration = event.generation;
    }
    this.#ended ||= isTerminal(state);
  }

  /** There is something new to see. */
  wake(): void {
    this.#waiting.wake();
  }

  /** The task was lost: readers get this error. */
  fail(error: ConnectError): void {
    this.#lost = error;
    this.#waiting.wake();
  }

  /** Drops the newest events; current readers get them from the store. */
  dispose(): void {
    this.#tail.clear();
  }

  /** Resolves at the first interrupted or terminal event after `generation`. */
  async settledAfter(generation: number, signal: AbortSignal, share: string | undefined): Promise<void> {
    if (!(await this.#hadSettledAfter(generation, { share, signal: () => signal }))) {
      while (this.#settledGeneration <= generation) {
        await this.#changed(signal, share);
      }
    }
  }

  /** Resolves when callers may see a generation above `generation`, or the task has ended. */
  async newerThan(generation: bigint, signal: AbortSignal, share: string | undefined): Promise<void> {
    while (!this.#ended && BigInt(this.#generation) <= generation) {
      await this.#changed(signal, share);
    }
  }

  /** Every event after `generation`, in order, each once, until the task has ended or `signal` aborts. */
  async *eventsAfter(
    generation: number,
    signal: AbortSignal,
    share: string | undefined,
  ): AsyncGenerator<CommittedEvent> {
    const reader: Reader = { share, signal: () => signal };
    const place = { cursor: generation };
    for (;;) {
      yield* this.#eventsOfPage(place, reader);
      if (place.cursor >= this.#generation) {
        if (this.#ended) {
          return;
        }
        await this.#changed(signal, share);
      }
    }
  }

  /** Those of the next page. In a generator of its own, which ends: a reader that waits would keep the page that it has read. */
  async *#eventsOfPage(place: { cursor: number }, reader: Reader): AsyncGenerator<CommittedEvent> {
    const page = await this.#page(place.cursor, reader);
    try {
      for (const event of page.events) {
        yield event;
        place.cursor = event.generation;
      }
    } finally {
      page.release();
    }
  }

  /** Whether the task was settled after `generation`, and then went on, before it was read: the log knows. */
  async #hadSettledAfter(generation: number, reader: Reader): Promise<boolean> {
    let cursor = generation;
    while (cursor < this.#loadedGeneration && this.#settledGeneration <= generation) {
      const { events, release } = await this.#page(cursor, reader);
      release();
      if (events.some(({ response }) => isSettled(findState(response)))) {
        return true;
      }
      cursor = events.at(-1)?.generation ?? this.#loadedGeneration;
    }
    return false;
  }

  /** Resolves at the next commit. @throws ConnectError when the task was lost, or why `signal` aborted */
  #changed(signal: AbortSignal, share: string | undefined): Promise<void> {
    return this.#lost === undefined ? this.#waiting.changed(signal, share) : Promise.reject(this.#lost);
  }

  /** Events after a generation: those of the tail, or older ones. @throws ConnectError when the log has them no longer */
  async #page(after: number, reader: Reader): Promise<EventPage> {
    const live = this.#tail.after(after, pageSize);
    if (live !== undefined || after >= this.#generation) {
      return { events: live ?? [], release() {} };
    }
    const page = await this.#context.eventPages.open(this.#owner, this.#name.taskId, after, reader);
    if (page.events.length === 0) {
      page.release();
      throw taskNotFound(this.#name.taskId); // it has expired while it was read
    }
    return page;
  }
}

/** The newest committed events of one task, up to a number of bytes. Readers that keep up are served from it. */
export class LiveTail {
  readonly #maxBytes: number;
  readonly #budget: EventBudget;
  readonly #events: CommittedEvent[] = [];
  #bytes = 0;

  constructor(maxBytes: number, budget: EventBudget) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  push(event: CommittedEvent): void {
    this.#events.push(event);
    this.#count(event.weight);
    while ((this.#bytes > this.#maxBytes || this.#budget.isExceeded) && this.#events.length > 1) {
      this.#count(-(this.#events.shift()?.weight ?? 0));
    }
  }

  /** At most `limit` events after `generation`; undefined when some of them are no longer here. */
  after(generation: number, limit: number): readonly CommittedEvent[] | undefined {
    const first = this.#events[0];
    if (first === undefined || generation + 1 < first.generation) {
      return undefined;
    }
    const from = generation + 1 - first.generation;
    return this.#events.slice(from, from + limit);
  }

  /** Drops everything. */
  clear(): void {
    this.#count(-this.#bytes);
    this.#events.length = 0;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.take(bytes);
  }
}

/** The readers of a task that have seen everything, and wait for its next commit. */
class WaitingReaders {
  /** Whose turn of the event loop each waits for, by what wakes it. */
  readonly #readers = new Map<() => void, string | undefined>();
  readonly #wakes: Wakes;

  constructor(wakes: Wakes) {
    this.#wakes = wakes;
  }

  /** Resolves at the next commit. It only means "look again". @throws ConnectError why `signal` aborted */
  changed(signal: AbortSignal, share: string | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      const abort = () => {
        this.#readers.delete(wake);
        // Connect gives the reason as an error of its own, such as DeadlineExceeded.
        const { reason } = signal;
        reject(
          reason instanceof ConnectError ? reason : new ConnectError("the call was canceled", Code.Canceled),
        );
      };
      if (signal.aborted) {
        abort();
        return;
      }
      signal.addEventListener("abort", abort, { once: true });
      this.#readers.set(wake, share);
    });
  }

  /** They look again. Other calls run between many of them, and callers take turns. */
  wake(): void {
    if (this.#readers.size === 0) return;
    const readers = [...this.#readers];
    this.#readers.clear();
    for (const [wake, share] of readers) this.#wakes.wake([wake], share);
  }
}
