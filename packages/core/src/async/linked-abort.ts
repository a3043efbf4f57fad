/**
 * A signal of our own that another signal aborts, too, with the same reason. `AbortSignal.any` does the same at several
 * times the cost, and keeps a record at the other signal until a garbage collection. Dispose of this one when it is no
 * longer needed.
 */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #cause: AbortSignal | undefined;

  constructor(cause: AbortSignal | undefined) {
    this.#cause = cause;
    if (cause?.aborted === true) {
      this.#controller.abort(cause.reason);
    } else {
      cause?.addEventListener("abort", this.#follow, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** The other signal aborts this one no more. */
  [Symbol.dispose](): void {
    this.#cause?.removeEventListener("abort", this.#follow);
  }

  readonly #follow = (): void => this.abort(this.#cause?.reason);
}
