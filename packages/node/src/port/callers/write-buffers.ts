import { setImmediate } from "node:timers";

/** Bytes that wait for one reader. */
interface Waiting {
  readonly bytes: number;
  readonly cut: () => void;
}

/** Memory of a byte that waits, with its share of the objects around it: an event has a kilobyte or less, and a buffer of its own. */
const memoryPerByte = 2;

/** What waits for the readers of one caller, oldest first. */
class CallerBuffers {
  readonly waiting = new Set<Waiting>();
  bytes = 0;
}

/**
 * Counts what was written and not taken: answers, and the newest events of streams, in the buffers of sockets and of HTTP/2
 * streams. It is little for each, and there may be thousands.
 *
 * When all together take too much memory, answers are cut off: of the caller that has most, those that have waited longest, of
 * those that are not smaller than the mean.
 */
export class WriteBuffers {
  readonly #maxBytes: number;
  readonly #callers = new Map<object, CallerBuffers>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * @param length bytes that wait
   * @param rest bytes of the same answer that were made and will be written next
   * @returns call it, once, when they were taken, or the answer was cut off
   */
  count(caller: object, length: number, rest: number, cut: () => void): () => void {
    const bytes = length * memoryPerByte + rest;
    const buffers = this.#callers.get(caller) ?? new CallerBuffers();
    this.#callers.set(caller, buffers);
    const waiting = { bytes, cut };
    buffers.waiting.add(waiting);
    buffers.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) setImmediate(() => this.#makeRoom()); // most have been taken by then
    return () => {
      if (!buffers.waiting.delete(waiting)) return;
      buffers.bytes -= bytes;
      this.#bytes -= bytes;
      if (buffers.waiting.size === 0) this.#callers.delete(caller);
    };
  }

  #makeRoom(): void {
    while (this.#bytes > this.#maxBytes) {
      let most: CallerBuffers | undefined;
      for (const buffers of this.#callers.values()) {
        if (most === undefined || buffers.bytes > most.bytes) most = buffers;
      }
      if (most === undefined || (this.#callers.size === 1 && most.waiting.size === 1)) return; // a single answer may be larger
      this.#cutOldest(most.waiting, most.bytes / most.waiting.size);
    }
  }

  /** Cuts off those that have waited longest, and none of thousands of small ones: that would take long, and give little. */
  #cutOldest(waiting: ReadonlySet<Waiting>, mean: number): void {
    for (const { bytes, cut } of waiting) {
      if (bytes < mean) continue;
      cut(); // which takes it out
      if (this.#bytes <= this.#maxBytes || waiting.size === 1) return;
    }
  }
}
