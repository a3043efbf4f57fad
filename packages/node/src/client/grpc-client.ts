import {
  type CallEnding,
  OnlyMessage,
  onlyMessage,
  runStreamingCall,
  runUnaryCall,
} from "@a2a-connect/bindings/client";
import { encodeMessage } from "@a2a-connect/core/internal";
import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type Interceptor,
  type StreamRequest,
  type Transport,
  type UnaryRequest,
} from "@connectrpc/connect";
import {
  headerGrpcStatus,
  requestHeaderWithCompression,
  validateResponseWithCompression,
} from "@connectrpc/connect/protocol-grpc";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { responseTurns } from "./connections.ts";
import { GrpcCall } from "./grpc-call.ts";
import { type GrpcCircumstances, isSilence, translateGrpcFailure } from "./grpc-failures.ts";
import { GrpcMessages } from "./grpc-messages.ts";
import type { GrpcSession, GrpcStream } from "./grpc-session.ts";

/** What a client end of gRPC needs. */
export interface GrpcClientOptions {
  readonly baseUrl: string;
  readonly session: GrpcSession;
  readonly interceptors: Interceptor[];
  readonly circumstances: GrpcCircumstances;
}

/** The codings that servers may use for messages. */
const codings = [compressionGzip, compressionBrotli];

/**
 * The client end of gRPC on HTTP/2 streams of Node: an ordinary Connect transport. Connect's own builds a chain of ten
 * async generators for each call.
 */
export function createGrpcClient({
  baseUrl,
  session,
  interceptors,
  circumstances,
}: GrpcClientOptions): Transport {
  const base = new URL(baseUrl);
  const nextTurn = () => responseTurns.turn(base.origin);
  const root = base.pathname.replace(/\/$/, "");
  const { maxResponseBytes: maxBytes } = circumstances;

  function requestCommon(
    method: DescMethodUnary | DescMethodStreaming,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    values = createContextValues(),
  ) {
    return {
      service: method.parent,
      requestMethod: "POST",
      url: `${base.origin}${pathOf(method)}`,
      header: requestHeaderWithCompression(true, timeoutMs, header, codings, null),
      contextValues: values,
    };
  }

  function pathOf({ parent, name }: DescMethodUnary | DescMethodStreaming): string {
    return `${root}/${parent.typeName}/${name}`;
  }

  /** Sends the request, and reads how the response begins. */
  async function begin<I extends DescMessage, O extends DescMessage>(
    request: UnaryRequest<I, O> | StreamRequest<I, O>,
    message: MessageShape<I>,
    ending: CallEnding,
  ) {
    const { method, header, signal } = request;
    let opened: GrpcStream | undefined;
    let call: GrpcCall | undefined;
    const failed = (thrown: unknown): unknown => {
      if (isSilence(signal)) opened?.retireConnection();
      return translateGrpcFailure(thrown, signal, circumstances);
    };
    try {
      const bytes = encodeMessage(method.input, message);
      opened = await session.request(toFields(pathOf(method), header));
      call = new GrpcCall(opened.stream, bytes, { signal, maxBytes, nextTurn });
      const head = await call.head;
      const { compression = null, headerError } = validateResponseWithCompression(
        codings,
        head.status,
        head.header,
      );
      const reading = { header: head.header, compression, maxBytes, failed, ending };
      return {
        call,
        header: head.header,
        headerError,
        messages: new GrpcMessages(method.output, call, reading),
      };
    } catch (thrown) {
      call?.cancel();
      throw failed(thrown);
    }
  }

  return {
    unary(method, signal, givenMs, header, input, contextValues) {
      const timeoutMs = positive(givenMs);
      const message = create(method.input, input);
      return runUnaryCall(
        { interceptors, signal, timeoutMs },
        { stream: false, ...requestCommon(method, timeoutMs, header, contextValues), method, message },
        async (request, ending) => {
          const { call, header, headerError, messages } = await begin(request, request.message, ending);
          const answer = await messages.next();
          if (answer.done === true) {
            throw headerError ?? missingMessage(call);
          }
          const { done } = await messages.next();
          if (done !== true || headerError !== undefined) {
            await messages.return();
            throw extraMessage(headerError);
          }
          const { trailer } = call;
          return { stream: false, service: method.parent, method, header, message: answer.value, trailer };
        },
      );
    },

    async stream(method, signal, givenMs, header, input, contextValues) {
      const timeoutMs = positive(givenMs);
      const message = new OnlyMessage(await onlyMessage(input, method));
      return runStreamingCall(
        { interceptors, signal, timeoutMs },
        { stream: true, ...requestCommon(method, timeoutMs, header, contextValues), method, message },
        async (request, ending) => {
          const asked = await onlyMessage(request.message, method);
          const { call, header, headerError, messages } = await begin(request, asked, ending);
          if (headerError !== undefined) {
            await messages.return();
            throw headerError;
          }
          const { trailer } = call;
          return { stream: true, service: method.parent, method, header, message: messages, trailer };
        },
      );
    },
  };
}

/** As in Connect's own transports, 0 is no limit. */
function positive(timeoutMs: number | undefined): number | undefined {
  return timeoutMs === undefined || timeoutMs <= 0 ? undefined : timeoutMs;
}

function toFields(path: string, header: Headers): Record<string, string> {
  const fields: Record<string, string> = { ":method": "POST", ":path": path };
  header.forEach((value, name) => {
    fields[name] = value;
  });
  return fields;
}

function missingMessage({ trailer }: GrpcCall): ConnectError {
  const code = trailer.has(headerGrpcStatus) ? Code.Unimplemented : Code.Unknown;
  return new ConnectError("protocol error: missing output message for unary method", code);
}

function extraMessage(headerError: ConnectError | undefined): ConnectError {
  return headerError === undefined
    ? new ConnectError("protocol error: received extra output message for unary method", Code.Unimplemented)
    : new ConnectError(
        "protocol error: received output message for unary method with error status",
        Code.Unknown,
      );
}
