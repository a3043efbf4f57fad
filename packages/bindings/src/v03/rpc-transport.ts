import { findA2AError } from "@a2a-connect/core";
import { formatMessage, parseMessage } from "@a2a-connect/core/internal";
import { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { ConnectError, createContextValues, type Interceptor, type Transport } from "@connectrpc/connect";
import { type CallEnding, OnlyMessage, onlyMessage, runStreamingCall, runUnaryCall } from "../client-call.ts";
import { parseResponse } from "../fetch/read-response.ts";
import { fromWireError } from "../fetch/response-errors.ts";
import {
  createOutgoingCalls,
  type OutgoingOlderCall,
  type ReadOlderCard,
  reasonOf,
  toOlderRequestHeader,
} from "./outgoing-calls.ts";

/** What calls of `a2a.v1` need. */
export interface OlderRpcTransportOptions {
  /** For interceptors. */
  readonly url: string;
  /** They see the calls of 1.0. The transport that is called has none of its own. */
  readonly interceptors: readonly Interceptor[];
  /** Reads the extended card. */
  readonly readCard: ReadOlderCard;
}

/** A Connect transport for the service of 1.0 that calls the service of A2A 0.3, `a2a.v1.A2AService`, over `wire`. */
export function createOlderRpcTransport(
  wire: Transport,
  { url, interceptors: given, readCard }: OlderRpcTransportOptions,
): Transport {
  const interceptors = [...given];
  const find = createOutgoingCalls("proto", readCard);

  function requestCommon(
    { parent: service }: DescMethod,
    init: HeadersInit | undefined,
    values = createContextValues(),
  ) {
    const header = toOlderRequestHeader(new Headers(init));
    return { service, requestMethod: "POST", url, header, contextValues: values };
  }

  return {
    unary(method, signal, timeoutMs, init, input, values) {
      return runUnaryCall(
        { interceptors, signal, timeoutMs },
        {
          stream: false,
          ...requestCommon(method, init, values),
          method,
          message: create(method.input, input),
        },
        async ({ message, signal: ending, header, contextValues }) => {
          const call = new OlderRpc(find(method), method.output);
          try {
            const response = await wire.unary(
              call.desc as DescMethodUnary, // as the method of 1.0 is
              ending,
              timeoutMs,
              header,
              call.ask(message),
              contextValues,
            );
            return { ...response, service: method.parent, method, message: call.read(response.message) };
          } catch (thrown) {
            throw call.explain(thrown);
          }
        },
      );
    },

    async stream(method, signal, timeoutMs, init, input, values) {
      const message = new OnlyMessage(await onlyMessage(input, method));
      return runStreamingCall(
        { interceptors, signal, timeoutMs },
        { stream: true, ...requestCommon(method, init, values), method, message },
        async (request, ending) => {
          const call = new OlderRpc(find(method), method.output);
          const asked = call.ask(await onlyMessage(request.message, method));
          try {
            const response = await wire.stream(
              call.desc as DescMethodStreaming, // as the method of 1.0 is
              request.signal,
              timeoutMs,
              request.header,
              new OnlyMessage(asked),
              request.contextValues,
            );
            return {
              ...response,
              service: method.parent,
              method,
              message: call.readAll(response.message, ending),
            };
          } catch (thrown) {
            throw call.explain(thrown);
          }
        },
      );
    },
  };
}

/** One call of `a2a.v1`. */
class OlderRpc<Output extends DescMessage> {
  readonly desc: DescMethod;
  readonly #call: OutgoingOlderCall;
  readonly #output: Output;

  constructor(call: OutgoingOlderCall, output: Output) {
    this.desc = OlderService.method[call.rpc];
    this.#call = call;
    this.#output = output;
  }

  ask(message: Message): Message {
    return parseMessage(this.desc.input, this.#call.toOlder(message) ?? {});
  }

  read(message: Message): MessageShape<Output> {
    return parseResponse(this.#output, this.#call.toCurrent(formatMessage(this.desc.output, message)));
  }

  async *readAll(
    messages: AsyncIterable<Message>,
    ending: CallEnding,
  ): AsyncGenerator<MessageShape<Output>, void> {
    try {
      for await (const message of messages) {
        yield this.read(message);
      }
    } catch (thrown) {
      throw ending.errorFor(this.explain(thrown));
    } finally {
      ending[Symbol.dispose]();
    }
  }

  /** A server's error with the reason that it has in 1.0. */
  explain(thrown: unknown): unknown {
    if (!(thrown instanceof ConnectError) || !thrown.isWireError || findA2AError(thrown) !== undefined) {
      return thrown;
    }
    const { rawMessage: message, code, metadata: header } = thrown;
    const reason = reasonOf(code, this.#call.operation);
    return reason === undefined
      ? thrown
      : fromWireError({ message, details: [], reason, code, status: 200, header });
  }
}
