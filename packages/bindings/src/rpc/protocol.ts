import type { RpcMethod } from "@a2a-connect/core";
import type { HttpRequest, HttpResponse } from "../http.ts";
import type { BoundMethod } from "../invoke.ts";
import type { BindingSettings } from "../options.ts";
import type { Codec } from "./codec.ts";

/** One operation as gRPC, gRPC-Web and Connect call it. */
export interface RpcOperation<Bound extends BoundMethod = BoundMethod> {
  readonly method: RpcMethod;
  readonly bound: Bound;
}

/**
 * The server end of one protocol, for the kinds of operation that it carries. Which one a request speaks is in its
 * content type.
 */
export interface RpcProtocol<Bound extends BoundMethod = BoundMethod> {
  /** The codec of a request of this content type; undefined when it speaks another protocol. */
  findCodec(contentType: string): Codec | undefined;
  /** Answer a POST. Whatever goes wrong is an answer in this protocol. */
  answer(
    operation: RpcOperation<Bound>,
    codec: Codec,
    request: HttpRequest,
    settings: BindingSettings,
  ): Promise<HttpResponse>;
}
