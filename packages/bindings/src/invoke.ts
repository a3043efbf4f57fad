import { methods, type RpcMethod } from "@a2a-connect/core";
import { runtimeKey } from "@a2a-connect/core/internal";
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
  type ServiceImplSpec,
} from "@connectrpc/connect";
import {
  createAsyncIterable,
  invokeUnaryImplementation,
  transformInvokeImplementation,
} from "@connectrpc/connect/protocol";
import type { Deadline } from "./deadline.ts";
import type { HttpRequest } from "./http.ts";
import type { Wire } from "./options.ts";

/**
 * An operation with one answer. The promise also rejects when the implementation throws synchronously. Either way it settles in the
 * turn in which the answer may be made (`turnToGoOn`).
 */
export interface UnaryMethod {
  readonly kind: "unary";
  readonly desc: DescMethodUnary;
  call(request: Message, context: HandlerContext): Promise<Message>;
}

/** An operation that answers with a stream. */
export interface StreamMethod {
  readonly kind: "stream";
  readonly desc: DescMethodServerStreaming;
  /**
   * The implementation runs only after the first `next`, and is asked for each message only after the one before was
   * taken.
   */
  call(request: Message, context: HandlerContext): AsyncIterator<Message>;
}

/** One operation, the same for every wire: the code behind it does not know which wire the call came over. */
export type BoundMethod = UnaryMethod | StreamMethod;

/** What a call of another version is in ours. */
export interface CurrentForm {
  /** The method that is called. */
  readonly desc: DescMethod;
  /** The header of such a call, in the words of ours. */
  readonly header: (header: Headers) => Headers;
  /**
   * The request as the implementation takes it; a large one in slices (`nextSlice`).
   *
   * @throws ConnectError InvalidArgument that names the wrong fields
   */
  readonly request: (request: Message, maxDepth: number, caller: string | undefined) => Promise<Message>;
}

/** One operation of A2AService with its implementation. */
export interface BoundOperation<Bound extends BoundMethod = BoundMethod> {
  readonly method: RpcMethod;
  readonly bound: Bound;
  /** For callers who write another version. Default: all is as it comes. */
  readonly current?: CurrentForm;
}

/** The operations that a service implements. */
export function bindOperations(
  spec: ServiceImplSpec,
  interceptors: readonly Interceptor[],
): BoundOperation[] {
  return Object.values(methods).flatMap((method) => {
    const implementation = spec.methods[method.localName];
    return implementation === undefined ? [] : [{ method, bound: bindMethod(implementation, interceptors) }];
  });
}

/**
 * Binds an implementation to its interceptors, the first one outermost. Without interceptors a call is a plain function
 * call.
 *
 * @throws Error for client-streaming methods: the JSON wires cannot carry them, and A2A has none
 */
export function bindMethod(spec: MethodImplSpec, interceptors: readonly Interceptor[]): BoundMethod {
  switch (spec.kind) {
    case "unary":
      return {
        kind: "unary",
        desc: spec.method,
        call: callUnary(spec, interceptors),
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
type UnaryCall = UnaryMethod["call"];
type StreamCall = StreamMethod["call"];

function callUnary(spec: UnarySpec, interceptors: readonly Interceptor[]): UnaryCall {
  const { impl, method } = spec;
  const list = [...interceptors];
  return async (request, context) => {
    try {
      return list.length === 0
        ? create(method.output, await impl(request, context))
        : await invokeUnaryImplementation(spec, withOwnFields(context), request, list);
    } finally {
      const turn = turnToGoOn(context);
      if (turn !== undefined) await turn;
    }
  };
}

/**
 * What an answer, or an error, waits for before its text is made; undefined: nothing. Thousands of calls may have waited for the same
 * event. On our Node port it is `NodeRequest.turnToGoOn`.
 */
function turnToGoOn({ values }: HandlerContext): Promise<void> | undefined {
  return values.get(runtimeKey).turnToGoOn?.();
}

function callStream({ impl, method }: StreamSpec): StreamCall {
  return (request, context) => {
    let source: AsyncIterator<MessageInitShape<typeof method.output>> | undefined;
    let unread: Message | undefined = request;
    return {
      async next() {
        if (unread !== undefined) {
          source = impl(unread, context)[Symbol.asyncIterator]();
          unread = undefined; // the stream may go on for hours
        }
        if (source === undefined) return { done: true, value: undefined };
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
      withOwnFields(context),
      list,
    )(createAsyncIterable([request]))[Symbol.asyncIterator]();
}

/**
 * Connect passes implementations behind interceptors a copy of the context's own fields, and getters are not own
 * fields.
 */
function withOwnFields(context: HandlerContext): HandlerContext {
  return { ...context, signal: context.signal, responseTrailer: context.responseTrailer };
}

/** The parts of a call besides its request. */
export interface CallOptions {
  readonly wire: Wire;
  /** The caller's header as the operation reads it. Default the request's. */
  readonly header?: Headers | undefined;
  /** Undefined on the JSON wires, which cannot carry one. */
  readonly deadline?: Deadline | undefined;
}

/**
 * The context of one call, on every wire. `signal` aborts when the caller disconnects or the deadline passes. Fields of
 * `responseHeader` that are set before the first message are sent with it. The JSON wires have no trailers and drop
 * `responseTrailer`.
 *
 * A class, because object literals with getters live as long as their hidden classes do.
 */
export class CallContext implements HandlerContext {
  readonly service: HandlerContext["service"];
  readonly method: DescMethod;
  readonly protocolName: Wire;
  readonly requestMethod: string;
  readonly url: string;
  readonly requestHeader: Headers;
  readonly responseHeader: Headers = new Headers();
  readonly timeoutMs: HandlerContext["timeoutMs"];
  readonly values: HandlerContext["values"] = createContextValues();
  readonly #request: HttpRequest;
  readonly #deadline: Deadline | undefined;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethod, request: HttpRequest, { wire, deadline, header }: CallOptions) {
    this.service = method.parent;
    this.method = method;
    this.protocolName = wire;
    this.requestMethod = request.method;
    this.url = request.url;
    this.requestHeader = header ?? request.header;
    this.timeoutMs = deadline === undefined ? noDeadline : () => deadline.remainingMs;
    this.#request = request;
    this.#deadline = deadline;
    this.values.set(runtimeKey, request); // what it tells is found when code asks for it
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  /** The trailers, if code has read them. */
  get usedTrailer(): Headers | undefined {
    return this.#responseTrailer;
  }

  /** Read late: a runtime may make the signal only when code asks for it. */
  get signal(): AbortSignal {
    return (this.#deadline ?? this.#request).signal;
  }
}

function noDeadline(): undefined {
  return undefined;
}
