/**
 * The signal of one request, made when somebody first looks at it: most calls never do.
 *
 * A class, as everything that is made for each request: an object literal with a getter gets a hidden class of its own,
 * and that keeps the whole request alive until the next full garbage collection.
 */
export class CallSignal {
  #controller: AbortController | undefined;
  #aborted: Error | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  /** Abort with a ready-made reason; without one the platform builds a costly DOMException. Later calls do nothing. */
  abort(reason: Error): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = reason;
    this.#controller?.abort(reason);
  }
}
