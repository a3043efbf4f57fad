import { readAtMost } from "@a2a-connect/core/internal";
import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { compressedFlag, createMethodUrl, encodeEnvelope } from "@connectrpc/connect/protocol";
import { type CallEnding, OnlyMessage, onlyMessage, runStreamingCall, runUnaryCall } from "../client-call.ts";
import { maxValuesOf, readChunks, responseCutOff } from "../fetch/read-response.ts";
import { responseTooLarge } from "../fetch/response-errors.ts";
import { countFields } from "./count-fields.ts";
import { announcedBytes, prefixBytes, splitEnvelopes } from "./split-envelopes.ts";

/** Options of the client ends of Connect and gRPC-Web. */
export interface RpcTransportOptions {
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  /** Run around every call, the first one outermost. */
  readonly interceptors: readonly Interceptor[];
  /** Longest response, or message of a stream, in bytes. */
  readonly maxResponseBytes: number;
}

export type AnyMethod = DescMethodUnary | DescMethodStreaming;

/** What a protocol does with requests and responses. */
export interface RpcWire {
  header(method: AnyMethod, timeoutMs: number | undefined, own: HeadersInit | undefined): Headers;
  /** The body of a unary request. */
  pack(message: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  /** @throws ConnectError the error in the response, or one that says that it is no response */
  readUnary<T>(response: Response, maxBytes: number, decode: (bytes: Uint8Array) => T): Promise<RpcAnswer<T>>;
  /** @throws ConnectError the error in the head of a stream, or one that says that it is no stream */
  checkStream(response: Response): void;
  /** The messages of a stream; its trailers are added to `trailer`. @throws ConnectError the error at its end */
  readStream(response: Response, maxBytes: number, trailer: Headers): AsyncIterable<Uint8Array>;
}

/** The response to a unary call. */
export interface RpcAnswer<T> {
  readonly header: Headers;
  readonly trailer: Headers;
  readonly message: T;
}

/**
 * A Connect transport for the binary form of a protocol over `fetch`. Connect has its own, but those bring the JSON of
 * protobuf-es into every page, have no limits, and take time that grows with the square of the chunks of a message.
 */
export function createRpcTransport(wire: RpcWire, options: RpcTransportOptions): Transport {
  const { fetch, maxResponseBytes } = options;
  const interceptors = [...options.interceptors];

  return {
    unary(method, signal, timeoutMs, header, message, contextValues) {
      const limits = { interceptors, signal, timeoutMs: given(timeoutMs) };
      const common = commonOf(method, limits.timeoutMs, header, contextValues);
      return runUnaryCall(
        limits,
        { stream: false, ...common, method, message: create(method.input, message) },
        async (req) => {
          const response = await post(req, wire.pack(toBinary(method.input, req.message)));
          const answer = await wire.readUnary(response, maxResponseBytes, (bytes) =>
            decode(method.output, bytes, maxResponseBytes),
          );
          return { stream: false, service: method.parent, method, ...answer };
        },
      );
    },

    async stream(method, signal, timeoutMs, header, messages, contextValues) {
      const limits = { interceptors, signal, timeoutMs: given(timeoutMs) };
      const common = commonOf(method, limits.timeoutMs, header, contextValues);
      const message = new OnlyMessage(await onlyMessage(messages, method));
      return runStreamingCall(limits, { stream: true, ...common, method, message }, async (req, ending) => {
        const sent = await onlyMessage(req.message, method);
        const response = await post(req, encodeEnvelope(0, toBinary(method.input, sent)));
        try {
          wire.checkStream(response);
        } catch (error) {
          response.body?.cancel().catch(() => {}); // the body is not needed
          throw error;
        }
        const trailer = new Headers();
        const found = wire.readStream(response, maxResponseBytes, trailer);
        return {
          stream: true,
          service: method.parent,
          method,
          header: response.headers,
          trailer,
          message: decodeEach(method.output, found, maxResponseBytes, ending),
        };
      });
    },
  };

  function commonOf(
    method: AnyMethod,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    contextValues: ContextValues = createContextValues(),
  ) {
    return {
      service: method.parent,
      requestMethod: "POST",
      url: createMethodUrl(options.baseUrl, method),
      header: wire.header(method, timeoutMs, header),
      contextValues,
    };
  }

  function post(
    {
      url,
      requestMethod,
      header,
      signal,
    }: { url: string; requestMethod: string; header: Headers; signal: AbortSignal },
    body: Uint8Array<ArrayBuffer>,
  ): Promise<Response> {
    return fetch(url, { method: requestMethod, headers: header, signal, redirect: "error", body });
  }
}

/** A limit of 0 or less is none. */
function given(timeoutMs: number | undefined): number | undefined {
  return timeoutMs !== undefined && timeoutMs > 0 ? timeoutMs : undefined;
}

function decode<Desc extends DescMessage>(
  desc: Desc,
  bytes: Uint8Array,
  maxBytes: number,
): MessageShape<Desc> {
  try {
    const max = maxValuesOf(maxBytes);
    if (bytes.length > max && countFields(desc, bytes, max) > max) throw responseTooLarge(maxBytes);
    return fromBinary(desc, bytes);
  } catch (cause) {
    if (cause instanceof ConnectError) throw cause;
    throw new ConnectError(
      `the response is not a valid ${desc.name}`,
      Code.Internal,
      undefined,
      undefined,
      cause,
    );
  }
}

async function* decodeEach<Desc extends DescMessage>(
  desc: Desc,
  messages: AsyncIterable<Uint8Array>,
  maxBytes: number,
  ending: CallEnding,
): AsyncGenerator<MessageShape<Desc>, void> {
  try {
    for await (const bytes of messages) {
      yield decode(desc, bytes, maxBytes);
    }
  } catch (thrown) {
    throw ending.errorFor(thrown);
  } finally {
    ending[Symbol.dispose]();
  }
}

/** A message, or the end of a stream, as both protocols send it. */
export interface Envelope {
  readonly flags: number;
  readonly data: Uint8Array<ArrayBuffer>;
}

/**
 * The envelopes of a response, one at a time. It fails
 *
 * - with ResourceExhausted as soon as an envelope announces more than `maxBytes`;
 * - with Unavailable when the connection breaks, or the body ends without an envelope that is marked as the last.
 *
 * @param lastFlag bit of the flags that marks the last envelope
 */
export async function* readEnvelopes(
  response: Response,
  maxBytes: number,
  lastFlag: number,
): AsyncGenerator<Envelope, void> {
  let isLast = false;
  for await (const envelope of splitEnvelopes(readChunks(response), maxBytes)) {
    if (envelope.byteLength < prefixBytes) {
      throw responseCutOff();
    }
    const [flags = 0] = envelope;
    const length = announcedBytes(envelope);
    if (length > maxBytes) {
      throw responseTooLarge(maxBytes);
    }
    const data = envelope.subarray(prefixBytes);
    if (data.byteLength < length) {
      throw responseCutOff();
    }
    if ((flags & compressedFlag) !== 0) {
      throw new ConnectError("the response is compressed, which was not asked for", Code.Internal);
    }
    isLast = (flags & lastFlag) !== 0;
    yield { flags, data };
  }
  if (!isLast) {
    throw responseCutOff();
  }
}

/** The whole body. @throws ConnectError ResourceExhausted when it is longer than `maxBytes`, Unavailable when it is cut off */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const bytes = await readAtMost(readChunks(response), maxBytes);
  if (bytes === undefined) {
    throw responseTooLarge(maxBytes);
  }
  return bytes;
}
