/** Opens a stream. What it gives to `onEnd` is called once, when the stream has ended, failed (with the error), or was left. */
type Begin<T> = (
  onEnd: (end: (error?: unknown) => void) => void,
) => AsyncIterable<T> | Promise<AsyncIterable<T>>;

/**
 * A stream that begins with its first `next`. It may go on for hours, so it keeps neither what `begin` knows nor what it
 * has given. A generator keeps both: its parameters, and the last result of a `yield*`.
 */
export function lateStream<T>(begin: Begin<T>): AsyncIterableIterator<T> {
  return new LateStream(begin);
}

class LateStream<T> implements AsyncIterableIterator<T> {
  #begin: Begin<T> | undefined;
  #source: Promise<AsyncIterator<T>> | undefined;
  #onEnd: ((error?: unknown) => void) | undefined;

  constructor(begin: Begin<T>) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#begin !== undefined) {
      this.#source = this.#open(this.#begin);
      this.#begin = undefined;
    }
    if (this.#source === undefined) return { done: true, value: undefined };
    try {
      const result = await (await this.#source).next();
      if (result.done === true) this.#end();
      return result;
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  async return(): Promise<IteratorResult<T>> {
    this.#begin = undefined;
    try {
      const source = await this.#source?.catch(() => undefined); // a pending `next` tells that it failed
      await source?.return?.();
    } finally {
      this.#end();
    }
    return { done: true, value: undefined };
  }

  async #open(begin: Begin<T>): Promise<AsyncIterator<T>> {
    const stream = await begin((end) => {
      this.#onEnd = end;
    });
    return stream[Symbol.asyncIterator]();
  }

  #end(error?: unknown): void {
    this.#source = undefined;
    this.#onEnd?.(error);
    this.#onEnd = undefined;
  }
}
