import { visibleText } from "@a2a-connect/core/internal";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { bufCurlCommand, curlCommand } from "./shell-command.ts";

/** One request of a scenario, and what the server said to it. */
export interface Exchange {
  /** For example `SendMessage over grpc`, or `POST http://localhost:4000/rpc`. */
  readonly call: string;
  /** Headers and body, one below the other. */
  request: string;
  /** The same; for a stream its events, one a line. Empty until something has come. */
  answer: string;
  /** A line for a shell that sends the same; undefined for a request that is no text, or a long one. */
  command?: string | undefined;
}

/** What is kept of each text: enough to see what went wrong. */
const maxLength = 4_000;

/** What is kept of one scenario: one that asks again and again would fill the memory. */
const maxExchanges = 30;

/** What a server may send to one request, all events of a stream together. Nothing that scenarios ask for is as large. */
export const maxAnswerBytes: number = 4 * 1024 * 1024;

/** Adds what goes through `fetch`, and through clients with the interceptor, to a list. Both read bounded answers. */
export interface Trace {
  readonly fetch: typeof globalThis.fetch;
  /** For wires that do not go through `fetch`. @param address of the wire, for the command */
  interceptor(wire: "grpc" | "grpc-web" | "connect", address: string): Interceptor;
  record(exchange: Exchange): void;
}

/** What everything goes through, beside the trace. */
export interface TraceOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Ends everything. */
  readonly signal: AbortSignal | undefined;
  /** Called before a message is sent to an agent, which is then not sent when this throws. */
  readonly beforeMessage: (() => void) | undefined;
}

/** Traces into `exchanges`. */
export function createTrace(
  exchanges: Exchange[],
  { fetch: send, signal, beforeMessage }: TraceOptions,
): Trace {
  const record = (exchange: Exchange, body: string | undefined): void => {
    if (beforeMessage !== undefined && mayBeMessage(exchange, body)) beforeMessage();
    exchanges.push(exchange);
    if (exchanges.length > maxExchanges) exchanges.shift();
  };
  const within = (own: AbortSignal | null | undefined): AbortSignal | undefined =>
    own == null || signal === undefined ? (own ?? signal) : AbortSignal.any([own, signal]);
  return {
    record: (exchange) => record(exchange, ""),
    async fetch(input, init) {
      const url = String(input);
      const method = init?.method ?? "GET";
      const headers = new Headers(init?.headers);
      const body = readBody(init?.body);
      const exchange: Exchange = {
        call: `${method} ${url.slice(0, 500)}`,
        request: shorten(`${formatHeaders(headers)}\n${body ?? "(bytes)"}`),
        answer: "",
        command: body === undefined ? undefined : curlCommand(method, url, headers, body),
      };
      record(exchange, body);
      const limit = within(init?.signal);
      const response = await send(input, {
        ...init,
        ...(limit === undefined ? {} : { signal: limit }),
      });
      exchange.answer = shorten(`HTTP ${response.status}\n${formatHeaders(response.headers)}\n`);
      return bounded(response, (text) => {
        exchange.answer = shorten(exchange.answer + text);
      });
    },
    interceptor: (wire, address) => (next) => async (request) => {
      const { name, input, output, parent } = request.method;
      const exchange: Exchange = {
        call: `${name} over ${wire}`,
        request: formatHeaders(request.header),
        answer: "",
      };
      record(exchange, "");
      let received = 0;
      const asked = (message: unknown) => {
        const json = formatJson(input, message);
        const url = `${address}/${parent.typeName}/${name}`;
        exchange.request = shorten(`${exchange.request}\n${json}`);
        exchange.command = bufCurlCommand(wire, url, request.header, json);
      };
      const answered = (message: unknown) => {
        const json = formatJson(output, message);
        exchange.answer = shorten(`${exchange.answer}${json}\n`);
        received += json.length;
        if (received > maxAnswerBytes) throw new ConnectError(tooLong, Code.ResourceExhausted);
      };
      const failed = (error: unknown) => {
        exchange.answer = shorten(
          `${exchange.answer}${error instanceof Error ? error.message : String(error)}`,
        );
      };
      if (!request.stream) asked(request.message);
      const limited = { ...request, signal: within(request.signal) ?? request.signal };
      try {
        const response = await next(
          limited.stream ? { ...limited, message: tap(limited.message, asked, failed) } : limited,
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

/** Whether a request may be SendMessage or SendStreamingMessage: one that cannot be read may. */
function mayBeMessage({ call }: Exchange, body: string | undefined): boolean {
  return body === undefined || /send_?(streaming_?)?message|message(:|%3a)(send|stream)/i.test(call + body);
}

const tooLong = `the server has sent more than ${maxAnswerBytes / 1024 / 1024} MiB to one request`;

/** The same response, which fails when it is too long. `seen` gets the beginning of the text as it is read. */
function bounded(response: Response, seen: (text: string) => void): Response {
  // A browser gives a 304 a body, which it then does not take back.
  if (response.body === null || bodiless.includes(response.status)) return response;
  const decoder = new TextDecoder();
  let length = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        if (length < maxLength) seen(decoder.decode(chunk.subarray(0, maxLength), { stream: true }));
        length += chunk.byteLength;
        if (length > maxAnswerBytes) throw new Error(tooLong);
        controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}

/** Statuses whose answers have no body (RFC 9110 §6.4.1). */
const bodiless = [204, 205, 304];

/** The body of a request as text; undefined when it is none. */
function readBody(body: RequestInit["body"]): string | undefined {
  if (body == null || typeof body === "string") return body ?? "";
  if (!(body instanceof Uint8Array)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** The last exchanges as text for people, the newest last, each with the command that does the same. */
export function formatExchanges(exchanges: readonly Exchange[], last = 3): string {
  return exchanges
    .slice(-last)
    .map(({ call, request, answer, command = "" }) =>
      [
        `> ${call}`,
        ...indent(request, "> "),
        ...indent(answer === "" ? "(no answer)" : answer, "< "),
        ...indent(command, "$ "),
      ].join("\n"),
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
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
