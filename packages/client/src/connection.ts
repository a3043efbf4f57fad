import type { A2AService, AgentCard, StreamResponse } from "@a2a-connect/proto";
import type { Client } from "@connectrpc/connect";
import type { ClientClock } from "./clock.ts";
import type { RetryOptions } from "./options.ts";

/** What the parts of the client know about the agent and how to call it. */
export interface Connection {
  readonly card: AgentCard;
  readonly rpc: Client<typeof A2AService>;
  /** The protocol version in use, `Major.Minor`. */
  readonly protocolVersion: string;
  /** Whether the agent takes a message once that is sent twice with the same `Idempotency-Key`. */
  readonly honoursKeys: boolean;
  readonly settings: ClientSettings;
  /** Inspects what came by webhook, as the interceptor does with responses. */
  inspectDelivery(response: StreamResponse): Promise<void>;
}

/** The options of a client with their defaults. */
export interface ClientSettings {
  readonly clock: ClientClock;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxTaskBytes: number;
  readonly retry: Required<RetryOptions>;
  readonly onWarning: (warning: string) => void;
  /** A fresh id. */
  readonly randomId: () => string;
}
