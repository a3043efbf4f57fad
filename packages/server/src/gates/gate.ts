import type { RpcMethod } from "@a2a-connect/core";
import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";

/** Looks at a call before its operation runs, and throws a ConnectError to refuse it. May set context values. */
export type Gate = (call: GatedCall) => void;

/** A call as gates see it, on every wire alike. */
export interface GatedCall {
  readonly method: RpcMethod;
  readonly request: Message;
  readonly context: HandlerContext;
}
