import { create, type DescMethodStreaming, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import {
  type ContextKey,
  type ContextValues,
  createContextKey,
  createContextValues,
  type Transport,
} from "@connectrpc/connect";
import { OnlyMessage, onlyMessage, runStreamingCall, runUnaryCall } from "../client-call.ts";
import { eventIdsKey, type MessageReading, MessageStream } from "./message-stream.ts";
import { parseResponse } from "./read-response.ts";
import { callHeaders, type TransportSettings } from "./transport-options.ts";
import type { WireResponse } from "./wire-fetch.ts";

/**
 * The JSON text of a response, for a caller that needs what a message does not keep: unknown members, and names that
 * occur twice.
 */
export class ReceivedText {
  #message: Message | undefined;
  #text = "";

  /** For transports: sets the text of this message. */
  keep(message: Message, text: string): void {
    this.#message = message;
    this.#text = text;
  }

  /**
   * The text of that message, character for character; for JSON-RPC the text of the `result`. Undefined when the
   * message did not come as JSON, or when an interceptor replaced it.
   */
  of(message: Message): string | undefined {
    return message === this.#message ? this.#text : undefined;
  }
}

/** A context value of unary calls: the two JSON transports store the response's text in it. Default none. */
export const receivedTextKey: ContextKey<ReceivedText | undefined> = createContextKey<
  ReceivedText | undefined
>(undefined, { description: "the JSON text of the response" });

/** One call after the interceptors. */
export interface OutgoingCall {
  readonly method: DescMethodUnary | DescMethodStreaming;
  readonly message: Message;
  readonly header: Headers;
  readonly signal: AbortSignal;
  readonly contextValues: ContextValues;
}

/** What a JSON wire does for a call. Both methods reject with ConnectErrors. */
export interface JsonWireClient {
  /** The URL of a call for interceptors. */
  readonly url: string;
  /** The JSON of the response message, and its text for a caller that asks for it (`receivedTextKey`). */
  unary(call: OutgoingCall): Promise<JsonAnswer>;
  stream(call: OutgoingCall): Promise<JsonStream>;
}

/** The response to a streaming call: server-sent events. */
export interface JsonStream extends Pick<MessageReading, "read"> {
  readonly response: WireResponse;
}

/** The response to a unary call. */
export interface JsonAnswer {
  readonly header: Headers;
  readonly json: unknown;
  readonly text: () => string;
}

/**
 * A Connect transport over a JSON wire: interceptors, deadlines and signals work as on Connect's own transports. There
 * are no trailers.
 */
export function createJsonTransport(wire: JsonWireClient, settings: TransportSettings): Transport {
  const { interceptors, defaultTimeoutMs, maxResponseBytes } = settings;

  return {
    unary(method, signal, timeoutMs = defaultTimeoutMs, header, message, contextValues) {
      return runUnaryCall(
        { interceptors, signal, timeoutMs },
        {
          stream: false,
          ...requestCommon(method, header, contextValues),
          method,
          message: create(method.input, message),
        },
        async (req) => {
          const { header: responseHeader, json, text } = await wire.unary(req);
          const response = parseResponse(method.output, json);
          req.contextValues.get(receivedTextKey)?.keep(response, text());
          return { stream: false, ...responseCommon(method, responseHeader), method, message: response };
        },
      );
    },

    async stream(method, signal, timeoutMs = defaultTimeoutMs, header, messages, contextValues) {
      const message = new OnlyMessage(await onlyMessage(messages, method));
      return runStreamingCall(
        { interceptors, signal, timeoutMs },
        { stream: true, ...requestCommon(method, header, contextValues), method, message },
        async (req, ending) => {
          const { response, read } = await wire.stream({
            ...req,
            message: await onlyMessage(req.message, method),
          });
          const ids = req.contextValues.get(eventIdsKey);
          return {
            stream: true,
            ...responseCommon(method, response.headers),
            method,
            message: new MessageStream(method.output, response, {
              maxLength: maxResponseBytes,
              ids,
              read,
              ending,
            }),
          };
        },
      );
    },
  };

  function requestCommon(method: AnyMethod, header: HeadersInit | undefined, values = createContextValues()) {
    return {
      service: method.parent,
      requestMethod: "POST",
      url: wire.url,
      header: callHeaders(settings, header),
      contextValues: values,
    };
  }
}

type AnyMethod = DescMethodUnary | DescMethodStreaming;

function responseCommon(method: AnyMethod, header: Headers) {
  return { service: method.parent, header, trailer: new Headers() };
}
