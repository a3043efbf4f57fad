import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { HttpRequest, HttpResponse } from "../http.ts";
import type { BoundMethod, BoundOperation } from "../invoke.ts";
import type { BindingSettings } from "../options.ts";

/** How gRPC, gRPC-Web and Connect encode a message. */
export interface Codec {
  /** The codec's name in media types: `application/grpc+proto`. */
  readonly name: "proto" | "json";
  /**
   * The message in these bytes: at once for few bytes, otherwise later.
   *
   * @param caller whose message it is (`nextSlice`)
   * @throws ConnectError InvalidArgument for bytes that are not a message of this type, or exceed the limits
   */
  decode(
    desc: DescMessage,
    bytes: Uint8Array,
    limits: MessageLimits,
    caller: string | undefined,
  ): Message | Promise<Message>;
  /**
   * The answer to a unary call, as text if the body may be text. A large answer comes in pieces: all at once, made in
   * slices, or each made when it is asked for.
   */
  encodeResponse(
    operation: BoundOperation,
    request: Message,
    response: Message,
    caller: string | undefined,
  ): Uint8Array | string | Iterable<Uint8Array> | Promise<readonly Uint8Array[]>;
  /** An event of a stream; a large one comes in pieces, made in slices. */
  encodeEvent(
    desc: DescMessage,
    event: Message,
    caller: string | undefined,
  ): Uint8Array | Promise<readonly Uint8Array[]>;
}

/** The limits on a message's JSON, or on the JSON that it would be. */
export type MessageLimits = Pick<BindingSettings, "maxJsonDepth" | "maxValues">;

/**
 * The server end of one protocol, for the kinds of operation that it supports. The content type of a request names its
 * protocol.
 */
export interface RpcProtocol<Bound extends BoundMethod = BoundMethod> {
  /** The codec for a request of this content type; undefined when the request uses another protocol. */
  findCodec(contentType: string): Codec | undefined;
  /** Answers a POST. Every failure is an answer in this protocol, too. */
  answer(
    operation: BoundOperation<Bound>,
    codec: Codec,
    request: HttpRequest,
    settings: BindingSettings,
  ): Promise<HttpResponse>;
}
