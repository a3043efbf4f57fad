import type { Binding } from "./caller.ts";

/**
 * Scenarios that fail with a peer. The tests fail once they pass, and docs/interop.md has a row for each `why`: what the peer
 * does in their place, and what was seen of it.
 */
export interface Deviation {
  readonly peer: string;
  readonly role: "caller" | "agent";
  readonly bindings: readonly Binding[];
  readonly scenarios: readonly string[];
  readonly why: string;
  /** On the wire. */
  readonly evidence: string;
}

const all: readonly Binding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

export const deviations: readonly Deviation[] = [
  {
    peer: "Go sdk",
    role: "caller",
    bindings: ["GRPC"],
    scenarios: ["data that is no object comes back as it was sent"],
    why: "cannot send data that is no object (H-10)",
    evidence: "“DataPart value must be a map for protobuf conversion, got string”, before anything is sent",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: ["GRPC"],
    scenarios: ["data that is no object comes back as it was sent"],
    why: "loses data that is no object (H-10)",
    evidence: '`{"data":"a scalar"}`, `{"data":0}` and `{"data":["a","list"]}` come back as `{"data":{}}`',
  },
  {
    peer: "Go sdk",
    role: "caller",
    bindings: ["JSONRPC"],
    scenarios: ["a subscription to a task that does not exist is TASK_NOT_FOUND"],
    why: "takes a plain JSON-RPC error for an empty stream",
    evidence:
      "our server answers SubscribeToTask with `application/json` and error −32001; the SDK's iteration ends without an error. " +
      "Its own server sends the error as an event of a stream",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenarios: ["a message to a task that has ended is UNSUPPORTED_OPERATION"],
    why: "refuses a message to a task that has ended with another error (A-7)",
    evidence: "error −32602, reason `INVALID_PARAMS`, “task in a terminal state”",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenarios: ["the history is in order"],
    why: "puts a question behind its answer in the history (C-2)",
    evidence: "GetTask after “ask What?”, “What?”, “that”: `history` is “ask What?”, “that”, “What?”",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenarios: ["a webhook gets its token as X-A2A-Notification-Token"],
    why: "sends a webhook's token in another header (N-3)",
    evidence: "`A2A-Notification-Token: secret`; `createPushReceiver` takes both",
  },
];
