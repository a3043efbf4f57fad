import { visibleText } from "@a2a-connect/core/internal";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";

/** One request of a scenario, and what the server said to it. */
export interface Exchange {
  /** For example `SendMessage over grpc`, or `POST http://localhost:4000/rpc`. */
  readonly call: string;
  /** Headers and body, one below the other. */
  request: string;
  /** The same; for a stream its events, one a line. Empty until something has come. */
  answer: string;
}

/** What is kept of each text: enough to see what went wrong. */
const maxLength = 4_000;

/** Adds what goes through `fetch`, and through clients with the interceptor, to a list. */
export interface Trace {
  readonly fetch: typeof globalThis.fetch;
  interceptor(wire: string): Interceptor;
}

/** Traces into `exchanges`. */
export function createTrace(exchanges: Exchange[]): Trace {
  const begin = (call: string, request: string): Exchange => {
    const exchange: Exchange = { call, request: shorten(request), answer: "" };
    exchanges.push(exchange);
    return exchange;
  };
  return {
    async fetch(input, init) {
      const body = typeof init?.body === "string" ? init.body : init?.body == null ? "" : "(bytes)";
      const exchange = begin(
        `${init?.method ?? "GET"} ${String(input)}`,
        `${formatHeaders(new Headers(init?.headers))}\n${body}`,
      );
      const response = await globalThis.fetch(input, init);
      const head = `HTTP ${response.status}\n${formatHeaders(response.headers)}`;
      exchange.answer = head;
      // A stream is not read twice: a second reader would hide from the server that the first one has left.
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        const text = await response.clone().text();
        exchange.answer = shorten(`${head}\n${text}`);
      }
      return response;
    },
    interceptor: (wire) => (next) => async (request) => {
      const { name, input, output } = request.method;
      const exchange = begin(`${name} over ${wire}`, formatHeaders(request.header));
      const asked = (message: unknown) => {
        exchange.request = shorten(`${exchange.request}\n${formatJson(input, message)}`);
      };
      const answered = (message: unknown) => {
        exchange.answer = shorten(`${exchange.answer}${formatJson(output, message)}\n`);
      };
      const failed = (error: unknown) => {
        exchange.answer = shorten(`${exchange.answer}${String(error)}`);
      };
      if (!request.stream) asked(request.message);
      try {
        const response = await next(
          request.stream ? { ...request, message: tap(request.message, asked, failed) } : request,
        );
        if (response.stream) return { ...response, message: tap(response.message, answered, failed) };
        answered(response.message);
        return response;
      } catch (error) {
        failed(error);
        throw error;
      }
    },
  };
}

/** The last exchanges as text for people, the newest last. */
export function formatExchanges(exchanges: readonly Exchange[], last = 3): string {
  return exchanges
    .slice(-last)
    .map(({ call, request, answer }) =>
      [`> ${call}`, ...indent(request, "> "), ...indent(answer === "" ? "(no answer)" : answer, "< ")].join(
        "\n",
      ),
    )
    .join("\n\n");
}

function indent(text: string, prefix: string): string[] {
  return visibleText(text)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => prefix + line);
}

async function* tap<Message>(
  messages: AsyncIterable<Message>,
  seen: (message: Message) => void,
  failed: (error: unknown) => void,
): AsyncGenerator<Message> {
  try {
    for await (const message of messages) {
      seen(message);
      yield message;
    }
  } catch (error) {
    failed(error);
    throw error;
  }
}

function formatJson<Desc extends DescMessage>(schema: Desc, message: unknown): string {
  try {
    return JSON.stringify(toJson(schema, message as MessageShape<Desc>)); // the messages of a method are of its schemas
  } catch (error) {
    return String(error); // a message that was made wrong on purpose may have no JSON
  }
}

function formatHeaders(headers: Headers): string {
  return [...headers].map(([name, value]) => `${name}: ${value}`).join("\n");
}

function shorten(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${text.length} characters)`;
}
