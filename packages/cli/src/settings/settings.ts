/** The options that every command that talks to an agent has, resolved. */
export interface Settings {
  /** Reference to the agent: host, URL, file, or a name in `a2a.config.yaml`. */
  readonly agentCard: string | undefined;
  /** Public key that the agent's card has to be verified by: itself, or the file that has it. Undefined: nothing is verified. */
  readonly cardKey: string | undefined;
  /** Bindings, best first; empty: the card's order. */
  readonly transports: readonly string[];
  /** The only protocol version, when one was asked for. */
  readonly a2aVersion: string | undefined;
  readonly output: "json" | "text";
  readonly stream: boolean;
  /** Whether to block until the task has settled: false after `--async`, true otherwise. */
  readonly wait: boolean;
  /** `wait` as somebody asked for it, undefined when nobody did: `task get` waits only when it was asked to. */
  readonly waitRequested: boolean | undefined;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly insecure: boolean;
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** Metadata of the message, parsed. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly serviceParameters: Readonly<Record<string, string>>;
  /** Names of credentials that may go to an agent that a found file names, such as `A2ACLI_BEARER`. */
  readonly allowedCredentials: readonly string[];
  readonly pollIntervalMs: number;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
}
