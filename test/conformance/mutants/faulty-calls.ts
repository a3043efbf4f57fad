import { findA2AError } from "@a2a-connect/core";
import type { A2AService, StreamResponse } from "@a2a-connect/proto";
import {
  clone,
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { ConnectError, type Interceptor, type StreamRequest, type UnaryRequest } from "@connectrpc/connect";

type Methods = typeof A2AService.method;
type Name = keyof Methods;
type Input<N extends Name> = MessageShape<Methods[N]["input"]>;
type Output<N extends Name> = MessageShape<Methods[N]["output"]>;
type AnyRequest = UnaryRequest | StreamRequest;

/** Changes copies of the requests of some operations, of all without names, before the server sees them. */
export function asking<N extends Name>(
  names: readonly N[],
  change: (request: Input<N>, header: Headers) => void,
): Interceptor {
  return (next) => (call) => {
    if (names.length > 0 && !names.some((name) => name === call.method.localName)) return next(call);
    const changed = (message: unknown): Input<N> => {
      const copy = clone(call.method.input, message as MessageShape<DescMessage>) as Input<N>; // of that operation
      change(copy, call.header);
      return copy;
    };
    return call.stream
      ? next({ ...call, message: map(call.message, changed) })
      : next({ ...call, message: changed(call.message) });
  };
}

/** Changes the header of every call before the server sees it. */
export function presenting(change: (header: Headers) => void): Interceptor {
  return (next) => (call) => {
    change(call.header);
    return next(call);
  };
}

/** Changes copies of the answers of some operations. */
export function answering<N extends Exclude<Name, "sendStreamingMessage" | "subscribeToTask">>(
  names: readonly N[],
  change: (answer: Output<N>, request: Input<N>) => void,
): Interceptor {
  return (next) => async (call) => {
    const response = await next(call);
    if (response.stream || call.stream || !names.some((name) => name === call.method.localName)) {
      return response;
    }
    const answer = clone(call.method.output, response.message as MessageShape<DescMessage>) as Output<N>; // of that operation
    change(answer, call.message as Input<N>);
    return { ...response, message: answer };
  };
}

/** Answers where the operation fails for that reason; undefined: for one without a name. */
export function accepting<N extends Name>(
  name: N,
  reason: string | undefined,
  make: (request: Input<N>) => MessageInitShape<Methods[N]["output"]>,
): Interceptor {
  return (next) => async (call) => {
    if (call.method.localName !== name) return next(call);
    const { input, output } = call.method;
    const made = (request: unknown) =>
      create(output, make(request as Input<N>) as MessageInitShape<DescMessage>); // of that operation
    const forgive = (error: unknown): void => {
      if (findA2AError(error)?.reason !== reason) throw error;
    };
    const head = { service: call.service, header: new Headers(), trailer: new Headers() };
    if (!call.stream) {
      try {
        return await next(call);
      } catch (error) {
        forgive(error);
        return { ...head, stream: false, method: call.method, message: made(call.message) };
      }
    }
    const [request = create(input)] = await Array.fromAsync(
      call.message as AsyncIterable<MessageShape<DescMessage>>,
    );
    const again = async function* () {
      yield request;
    };
    const events = async function* () {
      try {
        const response = await next({ ...call, message: again() });
        if (response.stream) yield* response.message;
      } catch (error) {
        forgive(error);
        yield made(request);
      }
    };
    return { ...head, stream: true, method: call.method, message: events() };
  };
}

/** Changes the errors of all calls. */
export function failing(change: (error: ConnectError, call: AnyRequest) => unknown): Interceptor {
  return (next) => async (call) => {
    try {
      const response = await next(call);
      if (!response.stream) return response;
      const events = async function* () {
        try {
          yield* response.message;
        } catch (error) {
          throw change(ConnectError.from(error), call);
        }
      };
      return { ...response, message: events() };
    } catch (error) {
      throw change(ConnectError.from(error), call);
    }
  };
}

/** Changes the events of all streams. The events themselves are others' too: copy what is changed. */
export function streaming(
  change: (events: AsyncIterable<StreamResponse>) => AsyncIterable<StreamResponse>,
): Interceptor {
  return (next) => async (call) => {
    const response = await next(call);
    if (!response.stream) return response;
    return { ...response, message: change(response.message as AsyncIterable<StreamResponse>) };
  };
}

/** Changes the header of every answer. */
export function heading(change: (header: Headers, asked: Headers) => void): Interceptor {
  return (next) => async (call) => {
    const response = await next(call);
    change(response.header, call.header);
    return response;
  };
}

async function* map<Message, Changed>(
  messages: AsyncIterable<Message>,
  change: (message: Message) => Changed,
): AsyncIterable<Changed> {
  for await (const message of messages) yield change(message);
}
