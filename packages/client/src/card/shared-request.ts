/**
 * One piece of work that several callers wait for: whoever comes while it goes on shares it. Each may stop waiting by its
 * own signal; when nobody waits any more, the work is aborted.
 */
export class SharedRequest<T> {
  #running: { readonly promise: Promise<T>; readonly abort: AbortController } | undefined;
  #waiting = 0;

  /** @throws what the work throws, or what `signal` was aborted with */
  async join(start: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.#running ??= this.#start(start);
    const { promise, abort } = this.#running;
    this.#waiting += 1;
    try {
      return await (signal === undefined ? promise : orAborted(promise, signal));
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
    promise.catch(() => {}); // those who wait are told; maybe nobody does any more
    return { promise, abort };
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
