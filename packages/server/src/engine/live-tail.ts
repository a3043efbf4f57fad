import type { CommittedEvent } from "./committed-event.ts";

/** The bytes that events in memory may have together, of all tasks of a process. */
export class EventBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isExceeded(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Takes `bytes` more; a negative number gives them back. */
  take(bytes: number): void {
    this.#bytes += bytes;
  }
}

/** The newest committed events of one task, up to a number of bytes. Readers that keep up are served from it. */
export class LiveTail {
  readonly #maxBytes: number;
  readonly #budget: EventBudget;
  #events: CommittedEvent[] = [];
  /** Events before this index have been dropped. They are removed in bulk, so that each costs constant time. */
  #start = 0;
  #bytes = 0;

  constructor(maxBytes: number, budget: EventBudget) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  push(event: CommittedEvent): void {
    this.#events.push(event);
    this.#count(event.weight);
    while (
      (this.#bytes > this.#maxBytes || this.#budget.isExceeded) &&
      this.#start < this.#events.length - 1
    ) {
      this.#count(-(this.#events[this.#start]?.weight ?? 0));
      this.#start++;
    }
    if (this.#start > 64 && this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }

  /** At most `limit` events after `generation`; undefined when some of them are no longer here. */
  after(generation: number, limit: number): readonly CommittedEvent[] | undefined {
    const first = this.#events[this.#start];
    if (first === undefined || generation + 1 < first.generation) {
      return undefined;
    }
    const from = this.#start + (generation + 1 - first.generation);
    return this.#events.slice(from, from + limit);
  }

  /** Drops everything. */
  clear(): void {
    this.#count(-this.#bytes);
    this.#events = [];
    this.#start = 0;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.take(bytes);
  }
}
