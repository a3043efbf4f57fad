import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  createContextValues,
  type HandlerContext,
  type Interceptor,
  type MethodImplSpec,
} from "@connectrpc/connect";
import {
  createAsyncIterable,
  invokeUnaryImplementation,
  transformInvokeImplementation,
} from "@connectrpc/connect/protocol";
import type { HttpRequest } from "./http.ts";
import type { JsonWire } from "./options.ts";

/**
 * One operation as the JSON wires call it: from here on nobody knows which wire it was.
 *
 * A call that throws rejects its promise, also when the implementation throws synchronously.
 */
export type BoundMethod =
  | {
      readonly kind: "unary";
      readonly desc: DescMethodUnary;
      call(request: Message, context: HandlerContext): Promise<Message>;
    }
  | {
      readonly kind: "stream";
      readonly desc: DescMethodServerStreaming;
      /** Nothing runs before the first `next`, and no message is asked for before the one before it was taken. */
      call(request: Message, context: HandlerContext): AsyncIterator<Message>;
    };

/**
 * Bind an implementation to its interceptors, the first one outermost. Without any, a call is a plain function call.
 *
 * @throws Error for client-streaming methods, which the JSON wires have no form for
 */
export function bindMethod(spec: MethodImplSpec, interceptors: readonly Interceptor[]): BoundMethod {
  switch (spec.kind) {
    case "unary":
      return {
        kind: "unary",
        desc: spec.method,
        call: interceptors.length === 0 ? callUnary(spec) : interceptUnary(spec, interceptors),
      };
    case "server_streaming":
      return {
        kind: "stream",
        desc: spec.method,
        call: interceptors.length === 0 ? callStream(spec) : interceptStream(spec, interceptors),
      };
    default:
      throw new Error(`${spec.method}: client streaming has no HTTP+JSON or JSON-RPC form`);
  }
}

type UnarySpec = MethodImplSpec & { kind: "unary" };
type StreamSpec = MethodImplSpec & { kind: "server_streaming" };
type UnaryCall = (BoundMethod & { kind: "unary" })["call"];
type StreamCall = (BoundMethod & { kind: "stream" })["call"];

function callUnary({ impl, method }: UnarySpec): UnaryCall {
  return async (request, context) => create(method.output, await impl(request, context));
}

function interceptUnary(spec: UnarySpec, interceptors: readonly Interceptor[]): UnaryCall {
  const list = [...interceptors];
  return (request, context) => invokeUnaryImplementation(spec, context, request, list);
}

function callStream({ impl, method }: StreamSpec): StreamCall {
  return (request, context) => {
    let source: AsyncIterator<MessageInitShape<typeof method.output>> | undefined;
    return {
      async next() {
        source ??= impl(request, context)[Symbol.asyncIterator]();
        const result = await source.next();
        return result.done === true
          ? { done: true, value: undefined }
          : { done: false, value: create(method.output, result.value) };
      },
      async return() {
        await source?.return?.();
        return { done: true, value: undefined };
      },
    };
  };
}

function interceptStream(spec: StreamSpec, interceptors: readonly Interceptor[]): StreamCall {
  const list = [...interceptors];
  return (request, context) =>
    transformInvokeImplementation(
      spec,
      context,
      list,
    )(createAsyncIterable([request]))[Symbol.asyncIterator]();
}

/**
 * The context of a call that came over a JSON wire. There are no deadlines on these wires: `signal` aborts when the
 * caller goes away. What is in `responseHeader` when the first message is there goes out with it; trailers do not exist
 * and `responseTrailer` is dropped.
 */
export function createCallContext(method: DescMethod, request: HttpRequest, wire: JsonWire): HandlerContext {
  return new CallContext(method, request, wire);
}

/** A class, because object literals with getters live as long as their hidden classes do. */
class CallContext implements HandlerContext {
  readonly service: HandlerContext["service"];
  readonly method: DescMethod;
  readonly protocolName: JsonWire;
  readonly requestMethod: string;
  readonly url: string;
  readonly requestHeader: Headers;
  readonly responseHeader: Headers = new Headers();
  readonly timeoutMs: HandlerContext["timeoutMs"] = noDeadline;
  readonly values: HandlerContext["values"] = createContextValues();
  readonly #request: HttpRequest;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethod, request: HttpRequest, wire: JsonWire) {
    this.service = method.parent;
    this.method = method;
    this.protocolName = wire;
    this.requestMethod = request.method;
    this.url = request.url;
    this.requestHeader = request.header;
    this.#request = request;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  /** Read late: a runtime may make the signal only when somebody asks for it. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

function noDeadline(): undefined {
  return undefined;
}
