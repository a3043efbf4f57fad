import type { AgentCard } from "@a2a-connect/proto";
import type { VerificationKey } from "@a2a-connect/signing";
import type { JsonObject } from "@bufbuild/protobuf";

/** A binding that the official SDKs speak. */
export type Binding = "JSONRPC" | "HTTP+JSON" | "GRPC";

/** Where an agent is. */
export interface Agent {
  /** Base URL, below which its card is. */
  readonly url: string;
  /** `host:port` of its gRPC. */
  readonly authority: string;
  /** Its card, when there is none below the URL. */
  readonly card?: AgentCard;
}

/** A call: its method is one of the service's, or `GetAgentCard` for the public card. */
export interface Order {
  readonly binding: Binding;
  readonly method: string;
  /** As ProtoJSON. */
  readonly request: JsonObject;
  /** With `GetAgentCard`: the public JWK that must have signed the card. */
  readonly key?: VerificationKey;
}

/** Software that calls agents. */
export interface Caller {
  /**
   * Makes a call. Who leaves the iteration leaves the call.
   *
   * @returns the answers as ProtoJSON: one, or those of a stream
   * @throws CallRefused with what the caller has seen of the error
   */
  call(agent: Agent, order: Order): AsyncGenerator<JsonObject>;
}

/** What a caller has seen of an error. */
export interface SeenError {
  /** Of the ErrorInfo; absent or null when the caller has found none. */
  readonly reason?: string | null;
  readonly message: string;
  /** Of the ErrorInfo, where the caller shows it. */
  readonly domain?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A call has failed. */
export class CallRefused extends Error {
  readonly seen: SeenError;

  constructor(seen: SeenError) {
    super(JSON.stringify(seen));
    this.seen = seen;
  }
}
