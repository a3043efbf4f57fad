import type { AgentCard, AgentInterface } from "@a2a-connect/proto";

/** A call that says who calls. */
export interface CredentialCall {
  readonly card: AgentCard;
  /** Where the card came from; undefined when the caller brought it. */
  readonly cardUrl: string | undefined;
  /** Where the call goes. */
  readonly interface: AgentInterface;
  /** For authorization servers: the platform's, guarded where the agent's addresses are. */
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal | undefined;
}

/** What a call carries to say who calls. */
export interface CallCredentials {
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters of the URL's query. */
  readonly query: Readonly<Record<string, string>>;
}

/** Where a client gets the credentials of its calls: `createCredentials` of `@a2a-connect/auth/client` makes one. */
export interface CredentialSource {
  /** Called before each request. @throws Error with a sentence that says what is missing, or why the agent gets nothing */
  forCall(call: CredentialCall): Promise<CallCredentials>;
  /** The agent has refused these. @returns whether there may be others, with which the call is made once more */
  refused(call: CredentialCall, sent: CallCredentials): boolean;
}
