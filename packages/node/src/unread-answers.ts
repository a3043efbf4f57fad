import { a2aError } from "@a2a-connect/core";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import type { ConnectError } from "@connectrpc/connect";

/** Size up to which an answer is not counted. */
const smallBytes = 64 * 1024;

/** When a caller should try again, in seconds. */
const retryAfterSeconds = 1;

/** Counts the memory of all answers of a port until their readers have taken them. */
export class UnreadAnswers {
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param maxBytes of all of them together; a single answer may be larger, so that a caller can get it at all */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Counts `bytes` more for an answer that has `own` already.
   *
   * @throws ConnectError CAPACITY when there are others, and no room beside them
   */
  take(bytes: number, own: number): void {
    if (this.#bytes > own && this.#bytes + bytes > this.#maxBytes) throw tooMuch(this.#maxBytes);
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** The memory of the answer to one request. */
export class HeldAnswer {
  readonly #all: UnreadAnswers;
  #bytes = 0;
  #counted = 0;

  constructor(all: UnreadAnswers) {
    this.#all = all;
  }

  /**
   * @param bytes negative: so many were sent
   * @throws ConnectError CAPACITY when the answers of the port take too much already
   */
  add(bytes: number): void {
    const held = this.#bytes + bytes;
    const more = (held > smallBytes ? held : 0) - this.#counted;
    if (more > 0) this.#all.take(more, this.#counted);
    else if (more < 0) this.#all.release(-more);
    this.#bytes = held;
    this.#counted += more;
  }

  /** The answer was sent, or its caller has disconnected. */
  release(): void {
    if (this.#counted > 0) this.#all.release(this.#counted);
    this.#bytes = 0;
    this.#counted = 0;
  }
}

function tooMuch(maxBytes: number): ConnectError {
  const error = a2aError(
    "CAPACITY",
    `answers that have not been read yet take most of ${maxBytes} bytes; try again later, or ask for less`,
  );
  error.details.push({
    desc: RetryInfoSchema,
    value: { retryDelay: { seconds: BigInt(retryAfterSeconds) } },
  });
  return error;
}
