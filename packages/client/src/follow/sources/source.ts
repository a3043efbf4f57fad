import type { StreamResponse } from "@a2a-connect/proto";

/** A message about a task, with the number of its event if the server numbers events. */
export interface NumberedResponse {
  readonly response: StreamResponse;
  readonly id: number | undefined;
  /** It has the same generation as the event before it on its connection: `TaskTracker` then trusts no generation. */
  readonly repeatsGeneration?: boolean;
}

/** Where responses about a task come from: a stream, a call, or a webhook. Read it to its end, or dispose of it. */
export interface Source extends Disposable {
  /**
   * The next response: at once when it has arrived already. Undefined at the end. Nothing is sent before the first read.
   */
  read(): NumberedResponse | Promise<NumberedResponse | undefined>;
}

/** A source of one response, or of none. */
export function callSource(call: () => Promise<StreamResponse["payload"] | undefined>): Source {
  let isCalled = false;
  return {
    async read() {
      if (isCalled) {
        return undefined;
      }
      isCalled = true;
      const payload = await call();
      return payload && { response: { $typeName: "lf.a2a.v1.StreamResponse", payload }, id: undefined };
    },
    [Symbol.dispose]() {},
  };
}
