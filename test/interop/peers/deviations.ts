import type { Binding } from "./caller.ts";

/** A scenario that fails with a peer, and why. The tests fail once it passes. */
export interface Deviation {
  readonly peer: string;
  readonly role: "caller" | "agent";
  readonly bindings: readonly Binding[];
  readonly scenario: string;
  readonly why: string;
}

const all: readonly Binding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

const noSubscription =
  "it answers TASK_NOT_FOUND to subscriptions while no code is executing the task, and our client takes that as final";

export const deviations: readonly Deviation[] = [
  {
    peer: "Go sdk",
    role: "caller",
    bindings: ["JSONRPC"],
    scenario: "a subscription to a task that does not exist is TASK_NOT_FOUND",
    why: "it takes a plain JSON-RPC error in place of a stream for an empty stream",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenario: "a message to a task that has ended is UNSUPPORTED_OPERATION",
    why: "it answers INVALID_PARAMS",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenario: "a webhook gets its token as X-A2A-Notification-Token",
    why: "it sends A2A-Notification-Token",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenario: "run gets the result by webhook",
    why: "our receiver refuses notifications without X-A2A-Notification-Token",
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenario: "a subscription waits for the answer to a question",
    why: noSubscription,
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenario: "resume asks the question of a task that waits",
    why: noSubscription,
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: all,
    scenario: "run answers a question after some time",
    why: noSubscription,
  },
  {
    peer: "Go sdk",
    role: "agent",
    bindings: ["JSONRPC", "HTTP+JSON"],
    scenario: "webhooks are created, read, listed and deleted",
    why: "it confirms a deletion with an empty body or without a result, and our client takes that for a failure",
  },
];
