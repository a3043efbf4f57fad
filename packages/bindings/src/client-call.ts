import { LinkedAbort } from "@a2a-connect/core/internal";
import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import {
  runStreamingCall as runInterceptedStream,
  runUnaryCall as runInterceptedUnary,
} from "@connectrpc/connect/protocol";

/** What a caller gave a call, besides the request. */
export interface CallLimits {
  readonly interceptors: Interceptor[];
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
}

/**
 * Makes a unary call of a client end, with interceptors, a time limit, and a signal. Without interceptors, what Connect
 * builds around a call (three controllers, and more listeners) is left out; the errors are the same.
 */
export async function runUnaryCall<I extends DescMessage, O extends DescMessage>(
  { interceptors, signal, timeoutMs }: CallLimits,
  request: Omit<UnaryRequest<I, O>, "signal">,
  next: (request: UnaryRequest<I, O>, ending: CallEnding) => Promise<UnaryResponse<I, O>>,
): Promise<UnaryResponse<I, O>> {
  if (interceptors.length > 0) {
    const req = request;
    return runInterceptedUnary({
      interceptors,
      ...given(signal, timeoutMs),
      req,
      next: (sent) => next(sent, endless()),
    });
  }
  const ending = new CallEnding(signal, timeoutMs);
  try {
    ending.throwIfOver();
    return await next({ ...request, signal: ending.signal }, ending);
  } catch (thrown) {
    throw ending.errorFor(thrown);
  } finally {
    ending[Symbol.dispose]();
  }
}

/**
 * The same for a stream of responses. With interceptors, `inspect` included, Connect wraps the messages: they have no
 * `takeReady` then, and each one is waited for.
 *
 * @param next the iterator of its response's messages must turn each error into `ending.errorFor(error)`, and call
 *   `ending[Symbol.dispose]()` when it ends
 */
export async function runStreamingCall<I extends DescMessage, O extends DescMessage>(
  { interceptors, signal, timeoutMs }: CallLimits,
  request: Omit<StreamRequest<I, O>, "signal">,
  next: (request: StreamRequest<I, O>, ending: CallEnding) => Promise<StreamResponse<I, O>>,
): Promise<StreamResponse<I, O>> {
  if (interceptors.length > 0) {
    const req = request;
    return runInterceptedStream({
      interceptors,
      ...given(signal, timeoutMs),
      req,
      next: (sent) => next(sent, endless()),
    });
  }
  const ending = new CallEnding(signal, timeoutMs);
  try {
    ending.throwIfOver();
    return await next({ ...request, signal: ending.signal }, ending);
  } catch (thrown) {
    ending[Symbol.dispose]();
    throw ending.errorFor(thrown);
  }
}

/** exactOptionalPropertyTypes: an undefined option must be left out. */
function given(signal: AbortSignal | undefined, timeoutMs: number | undefined) {
  return { ...(signal && { signal }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

/** What may end a call before its response has ended: its caller's signal, and its time limit. */
export class CallEnding implements Disposable {
  /** Aborted by either. */
  readonly signal: AbortSignal;
  readonly #limit: LinkedAbort | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal | undefined, timeoutMs: number | undefined) {
    if (timeoutMs === undefined) {
      this.signal = signal ?? new AbortController().signal; // Workers permit none outside of a call
      return;
    }
    const limit = new LinkedAbort(signal);
    const expire = () => limit.abort(new ConnectError("the operation timed out", Code.DeadlineExceeded));
    if (timeoutMs <= 0) {
      expire();
    } else {
      this.#timer = setTimeout(expire, timeoutMs);
    }
    this.#limit = limit;
    this.signal = limit.signal;
  }

  /** @throws the reason, as `errorFor` gives it */
  throwIfOver(): void {
    if (this.signal.aborted) {
      throw this.errorFor(undefined);
    }
  }

  /** The error for the caller: when the call was ended, the reason of that. */
  errorFor(thrown: unknown): ConnectError {
    return this.signal.aborted
      ? ConnectError.from(this.signal.reason, Code.Canceled)
      : ConnectError.from(thrown);
  }

  /** The call is over. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#limit?.[Symbol.dispose]();
  }
}

/** For calls with interceptors, which Connect ends and whose errors it makes ConnectErrors of. */
function endless(): CallEnding {
  return new CallEnding(undefined, undefined);
}

/**
 * The one message of a call whose request is no stream. Connect's contracts want an iterable, so the message is packed
 * for the client's transport, again for the wire's, and again for its interceptors; `onlyMessage` takes it out each time
 * without iterating.
 */
export class OnlyMessage<T> implements AsyncIterable<T> {
  readonly message: T;

  constructor(message: T) {
    this.message = message;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    yield this.message;
  }
}

/**
 * The one request of a server-streaming call.
 *
 * @throws ConnectError Unimplemented for other calls: no wire of A2A carries more
 */
export async function onlyMessage<Desc extends DescMessage>(
  messages: AsyncIterable<MessageInitShape<Desc>>,
  method: DescMethodStreaming<Desc>,
): Promise<MessageShape<Desc>> {
  if (method.methodKind === "server_streaming") {
    if (messages instanceof OnlyMessage) {
      return create(method.input, messages.message);
    }
    for await (const message of messages) {
      return create(method.input, message);
    }
  }
  throw new ConnectError(`${method.name} cannot be called over this transport`, Code.Unimplemented);
}
