/**
 * The signal of one request, made when code first reads it: for most calls no code does.
 *
 * It is a class, like everything that is made for each request. An object literal with a getter gets a hidden class of
 * its own, which keeps the whole request alive until the next full garbage collection.
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
