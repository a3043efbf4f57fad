/** The signal of one request, made when somebody first looks at it: most calls never do. */
export interface CallSignal {
  readonly signal: AbortSignal;
  /** Abort with a ready-made reason; without one the platform builds a costly DOMException. Later calls do nothing. */
  abort(reason: Error): void;
}

/** The signal of a request that has just arrived. */
export function createCallSignal(): CallSignal {
  let controller: AbortController | undefined;
  let aborted: Error | undefined;
  return {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (aborted !== undefined) controller.abort(aborted);
      }
      return controller.signal;
    },
    abort(reason) {
      if (aborted !== undefined) return;
      aborted = reason;
      controller?.abort(reason);
    },
  };
}
