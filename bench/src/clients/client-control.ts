/** What a client is told to do: so many tasks, one after the other, or one stream of so many chunks. */
export interface Work {
  readonly kind: "tasks" | "stream";
  readonly count: number;
}

/** What a piece of work took. */
export interface Spent {
  /** Tasks, or events of the stream. */
  readonly units: number;
  /** CPU time of all threads of the client's process, user and system, in microseconds. */
  readonly cpuUs: number;
  readonly elapsedMs: number;
}

/** From a client to the bench. */
export type ClientReply = { readonly kind: "ready" } | { readonly kind: "spent"; readonly spent: Spent };
