import type { RpcMethod } from "@a2a-connect/core";
import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";

/**
 * A gate tests a call before its operation runs, and throws a ConnectError to refuse it. It may set context values. One that has
 * to wait returns a promise; all others cost no turn of the event loop.
 */
export type Gate = (call: GatedCall) => void | Promise<void>;

/** A call in the form for gates, the same on every wire. */
export interface GatedCall {
  readonly method: RpcMethod;
  readonly request: Message;
  readonly context: HandlerContext;
}

/** Undefined: the call has passed. A promise: a gate has to wait, and the gates after it come then. */
export function pass(call: GatedCall, gates: readonly Gate[], first = 0): Promise<void> | undefined {
  for (let index = first; index < gates.length; index++) {
    const waiting = gates[index]?.(call);
    if (waiting !== undefined) {
      return waiting.then(() => pass(call, gates, index + 1));
    }
  }
  return undefined;
}
