import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { shorten } from "./body-log.ts";
import { logHeaders } from "./fetch-log.ts";
import type { WireLogSink } from "./wire-log-sink.ts";

/** What is logged about calls. */
export interface CallLogOptions {
  /** Address, headers and trailers as well: where no `fetch` shows them. */
  readonly heads: boolean;
}

/** Logs calls as messages in JSON: for binary wires. */
export function logCalls(sink: WireLogSink, { heads }: CallLogOptions): Interceptor {
  return (next) => async (request) => {
    const id = sink.nextId();
    const startedAt = performance.now();
    const elapsed = (): string => `${(performance.now() - startedAt).toFixed(1)} ms`;
    const { method } = request;
    sink.line(`[${id}] -> ${method.name}${heads ? ` ${sink.masking.url(request.url)}` : ""}`);
    if (heads) {
      logHeaders(sink, request.header);
    }
    const fail = (error: unknown): unknown => {
      const { code, rawMessage } = ConnectError.from(error);
      sink.line(`[${id}] <- ${Code[code]} after ${elapsed()}: ${sink.masking.text(rawMessage)}`);
      return error;
    };
    const show = <Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): void => {
      sink.line(`  ${shorten(sink.masking.text(JSON.stringify(toJson<DescMessage>(desc, message))))}`);
    };
    if (!request.stream) {
      show(method.input, request.message);
    }
    try {
      const response = await next(
        request.stream
          ? { ...request, message: tap(request.message, (message) => show(method.input, message)) }
          : request,
      );
      sink.line(`[${id}] <- answer after ${elapsed()}`);
      if (heads) {
        logHeaders(sink, response.header);
      }
      if (!response.stream) {
        show(method.output, response.message);
        return response;
      }
      const end = (): void => {
        sink.line(`[${id}] <- ended after ${elapsed()}`);
        if (heads) {
          logHeaders(sink, response.trailer);
        }
      };
      return {
        ...response,
        message: tap(response.message, (message) => show(method.output, message), end, fail),
      };
    } catch (error) {
      throw fail(error);
    }
  };
}

/** The same messages, looked at as they pass. */
async function* tap<T>(
  messages: AsyncIterable<T>,
  look: (message: T) => void,
  end: () => void = () => {},
  fail: (error: unknown) => unknown = (error) => error,
): AsyncGenerator<T, void> {
  try {
    for await (const message of messages) {
      look(message);
      yield message;
    }
    end();
  } catch (error) {
    throw fail(error);
  }
}
