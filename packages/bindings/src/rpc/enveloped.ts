import { joinBytes } from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { explainFailure } from "../failure.ts";
import type { HttpRequest, HttpResponse } from "../http.ts";
import type { BoundOperation } from "../invoke.ts";
import { collectInTurns, isPieces, toBody } from "../large-answer.ts";
import { openStream } from "../open-stream.ts";
import type { BindingSettings } from "../options.ts";
import { createStreamBody, type Encoded, type StreamFormat } from "../stream-body.ts";
import { compressEnvelope, compressOnce, envelopOnce, envelopPieces, readEnvelope } from "./envelope.ts";
import { type CallHeaders, type OpenCall, openCall } from "./open-call.ts";
import type { Codec, RpcProtocol } from "./protocol.ts";
import { prefixBytes } from "./split-envelopes.ts";

/** The differences between the protocols whose messages are in envelopes. */
export interface EnvelopedProtocol extends CallHeaders, Pick<RpcProtocol, "findCodec"> {
  /** Media type of a response without its codec: `application/grpc+`. */
  readonly mediaType: string;
  /** Whether trailers are HTTP's own; otherwise they are in the last envelope. */
  readonly httpTrailers: boolean;
  /**
   * Writes into the trailers how a call ended, with or without an error.
   *
   * @returns the last envelope of the body; undefined when HTTP's trailers are enough
   */
  finish(trailer: Headers, error: ConnectError | undefined): Uint8Array | undefined;
}

/** The server end of a protocol whose messages are in envelopes. */
export function createEnvelopedProtocol(protocol: EnvelopedProtocol): RpcProtocol {
  return {
    findCodec: protocol.findCodec,
    answer: (operation, codec, request, settings) =>
      new EnvelopedCall(protocol, operation, codec, request, settings).answer(),
  };
}

const encoder = new TextEncoder();

/** The envelopes of a response, whole or in pieces. */
type EncodedResponse = Uint8Array | readonly Uint8Array[];

/** One call, with the way in which its response's messages are written. */
class EnvelopedCall implements StreamFormat {
  readonly #protocol: EnvelopedProtocol;
  readonly #operation: BoundOperation;
  readonly #codec: Codec;
  readonly #request: HttpRequest;
  readonly #settings: BindingSettings;
  readonly #call: OpenCall;

  constructor(
    protocol: EnvelopedProtocol,
    operation: BoundOperation,
    codec: Codec,
    request: HttpRequest,
    settings: BindingSettings,
  ) {
    this.#protocol = protocol;
    this.#operation = operation;
    this.#codec = codec;
    this.#request = request;
    this.#settings = settings;
    this.#call = openCall(protocol, operation, request, settings);
  }

  async answer(): Promise<HttpResponse> {
    const { bound } = this.#operation;
    const { context, refused, close } = this.#call;
    try {
      if (refused !== undefined) {
        throw refused;
      }
      const request = await this.#readMessage();
      if (bound.kind === "stream") {
        return await this.#answerStream(bound.call(request, context));
      }
      const encoding = this.#encodeResponse(request, await bound.call(request, context));
      const body = encoding instanceof Promise ? await encoding : encoding;
      close();
      const end = this.end();
      if (!(body instanceof Uint8Array)) {
        return this.#respond(toBody(end === undefined ? body : [...body, end]));
      }
      return this.#respond(end === undefined ? body : joinBytes([body, end]));
    } catch (thrown) {
      close();
      return this.#respond(this.failure(thrown));
    }
  }

  async #readMessage(): Promise<Message> {
    const { body, callerNetwork } = this.#request;
    const { context, requestCompression } = this.#call;
    const caller = { signal: context.signal, callerNetwork };
    const bytes = await readEnvelope(body, caller, requestCompression, this.#settings);
    const decoding = this.#codec.decode(
      this.#operation.bound.desc.input,
      bytes,
      this.#settings,
      callerNetwork,
    );
    const decoded = decoding instanceof Promise ? await decoding : decoding;
    const { current } = this.#operation;
    const { maxJsonDepth } = this.#settings;
    const message =
      current === undefined ? decoded : await current.request(decoded, maxJsonDepth, callerNetwork);
    const released = body.release?.();
    if (released !== undefined) await released;
    return message;
  }

  #encodeResponse(request: Message, response: Message): EncodedResponse | Promise<EncodedResponse> {
    const { context, responseCompression: compression } = this.#call;
    const { callerNetwork } = this.#request;
    const encoded = this.#codec.encodeResponse(this.#operation, request, response, callerNetwork);
    if (encoded instanceof Promise) return encoded.then((pieces) => envelopPieces(pieces, compression));
    // The length of an envelope comes first.
    if (isPieces(encoded)) {
      return collectInTurns(this.#count(encoded), callerNetwork).then((pieces) =>
        envelopPieces(pieces, compression),
      );
    }
    const envelope = encodeEnvelope(0, typeof encoded === "string" ? encoder.encode(encoded) : encoded);
    return compression !== null && this.#isWorthwhile(envelope)
      ? compressEnvelope(envelope, compression, callerNetwork, context.signal)
      : envelope;
  }

  /** Pieces of JSON that count as unread as they are made: they may have many times the bytes that are stored of them. */
  *#count(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
    for (const piece of pieces) {
      this.#request.countUnread?.(piece.length);
      yield piece;
    }
  }

  async #answerStream(messages: AsyncIterator<Message>): Promise<HttpResponse> {
    const { context, close } = this.#call;
    const { first, silent } = await openStream(messages, context, this.#settings);
    const { signal } = context;
    const body = createStreamBody({ first, messages, format: this, signal, onEnd: close });
    return { ...this.#respond(body), headAtOnce: silent };
  }

  message(message: Message): Encoded | Promise<Encoded> {
    const { responseCompression: compression } = this.#call;
    const { desc } = this.#operation.bound;
    const { callerNetwork } = this.#request;
    const envelope = envelopOnce(this.#codec, desc.output, message, callerNetwork);
    if (envelope instanceof Promise) {
      return envelope.then(async (made) =>
        made instanceof Uint8Array ? this.#compress(made) : (await envelopPieces(made, compression)).values(),
      );
    }
    return this.#compress(envelope);
  }

  #compress(envelope: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const { responseCompression: compression } = this.#call;
    return compression !== null && this.#isWorthwhile(envelope)
      ? compressOnce(envelope, compression, this.#request.callerNetwork)
      : envelope;
  }

  end(): Uint8Array | undefined {
    return this.#protocol.finish(this.#call.context.responseTrailer, undefined);
  }

  failure(thrown: unknown): Uint8Array | undefined {
    const context = { wire: this.#protocol.wire, method: this.#operation.method.name };
    const error = explainFailure(thrown, context, this.#settings);
    return this.#protocol.finish(this.#call.context.responseTrailer, error);
  }

  #isWorthwhile(envelope: Uint8Array): boolean {
    return envelope.byteLength - prefixBytes >= this.#settings.compressMinBytes;
  }

  #respond(body: HttpResponse["body"]): HttpResponse {
    const { mediaType, encoding, httpTrailers } = this.#protocol;
    const { context, responseCompression } = this.#call;
    const header = context.responseHeader;
    header.set("content-type", mediaType + this.#codec.name);
    if (responseCompression !== null) {
      header.set(encoding, responseCompression.name);
    }
    return {
      status: 200,
      header,
      ...(body !== undefined && { body }),
      ...(httpTrailers && { trailer: context.responseTrailer }),
    };
  }
}
