import type { StreamResponse } from "@a2a-connect/proto";

/** An event that has been committed. */
export interface CommittedEvent {
  readonly generation: number;
  /** Shared by all readers, who must not change it. */
  readonly response: StreamResponse;
  /** Size of its binary encoding. */
  readonly bytes: number;
}

/** The newest committed events of one task, within a bound of bytes: what a reader that keeps up is served from. */
export class LiveTail {
  readonly #maxBytes: number;
  #events: CommittedEvent[] = [];
  /** Events before this index have been dropped and are cut off in bulk, so that each costs constant time. */
  #start = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(event: CommittedEvent): void {
    this.#events.push(event);
    this.#bytes += event.bytes;
    while (this.#bytes > this.#maxBytes && this.#start < this.#events.length - 1) {
      this.#bytes -= this.#events[this.#start]?.bytes ?? 0;
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
}
