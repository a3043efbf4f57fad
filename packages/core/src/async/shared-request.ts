import { untilAborted } from "./waiting.ts";

/**
 * One piece of work that several callers wait for: a caller that comes while it runs shares it. Each caller may stop
 * waiting by its own signal. When no caller waits any more, the work is aborted.
 */
export class SharedRequest<T> {
  #running: { readonly promise: Promise<T>; readonly abort: AbortController } | undefined;
  #waiting = 0;

  /** @throws the error of the work, or the reason of `signal` */
  async join(start: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.#running ??= this.#start(start);
    const { promise, abort } = this.#running;
    this.#waiting += 1;
    try {
      return await untilAborted(promise, signal);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        abort.abort(signal?.reason);
        this.#running = undefined;
      }
    }
  }

  #start(start: (signal: AbortSignal) => Promise<T>) {
    const abort = new AbortController();
    const promise = start(abort.signal);
    promise.catch(() => {}); // the waiting callers get the error, if there are any
    return { promise, abort };
  }
}
