import type { RpcMethod } from "@a2a-connect/core";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { HttpRequest, HttpResponse } from "../http.ts";
import type { BoundMethod } from "../invoke.ts";
import type { BindingSettings } from "../options.ts";

/** One operation as gRPC, gRPC-Web and Connect call it. */
export interface RpcOperation<Bound extends BoundMethod = BoundMethod> {
  readonly method: RpcMethod;
  readonly bound: Bound;
}

/** How a message becomes bytes on gRPC, gRPC-Web and Connect. */
export interface Codec {
  /** As in the names of media types: `application/grpc+proto`. */
  readonly name: "proto" | "json";
  /**
   * The message in these bytes, at once or, where they are many, later.
   *
   * @throws ConnectError InvalidArgument for what is no message of this type, or beyond the limits
   */
  decode(desc: DescMessage, bytes: Uint8Array, limits: MessageLimits): Message | Promise<Message>;
  /** The answer to a unary call; text stays text where a body may be one. A large one is made in turns, and given in pieces. */
  encodeResponse(
    operation: RpcOperation,
    request: Message,
    response: Message,
  ): Uint8Array | string | Promise<readonly Uint8Array[]>;
  /** An event of a stream; a large one as `encodeResponse` gives it. */
  encodeEvent(desc: DescMessage, event: Message): Uint8Array | Promise<readonly Uint8Array[]>;
}

/** How much JSON a message may be, or would be if it were JSON. */
export type MessageLimits = Pick<BindingSettings, "maxJsonDepth" | "maxValues">;

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
