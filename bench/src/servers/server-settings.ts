/** What a scenario wants to be different from the defaults; the peer has nothing of the kind. */
export interface ServerSettings {
  /** Executions at a time, see `EngineLimits`. */
  readonly maxRunning?: number;
  /** How long a durable executor waits in memory, see `EngineLimits`. */
  readonly unloadAfterMs?: number;
  /** Where tasks are kept. Default: in the durable store. */
  readonly store?: "memory";
  /** Whether callers need an access token, which the server then tells the bench. Default: they need none. */
  readonly gate?: "jwt";
}
