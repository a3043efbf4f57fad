import { type BindingTransport, type ClientPlatform, webTransports } from "@a2a-connect/client";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { TextSink } from "../cli-io.ts";
import { toText } from "../output.ts";
import type { Settings } from "../settings/resolve.ts";
import { type Masking, maskSettings } from "./masking.ts";
import { observeBody } from "./observe-body.ts";

/**
 * What goes over the wire, on stderr (`--debug`): requests and responses with headers, bodies and times. Where the wire is
 * binary its messages are shown as JSON instead of its bytes. Credentials are masked, whatever else is asked for.
 */
interface WireLog {
  /** Logs requests by `fetch`: cards, and every binding but gRPC. */
  wrapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch;
  /** Logs the messages of binary bindings, and which binding is used, below everything that changes a call. */
  wrapPlatform(platform: ClientPlatform): ClientPlatform;
}

/** The log of one run. */
export function createWireLog(stderr: TextSink, settings: Settings): WireLog {
  let count = 0;
  const sink: WireLogSink = {
    line: (text) => {
      stderr.write(`debug: ${toText(text).replaceAll("\n", "\ndebug:   ")}\n`).catch(() => {}); // nobody reads it
    },
    nextId: () => {
      count += 1;
      return count;
    },
    masking: maskSettings(settings),
  };
  return {
    wrapFetch: (fetch) => logFetch(fetch, sink),
    wrapPlatform: (platform) => ({
      ...platform,
      transports: [...(platform.transports ?? []), ...webTransports].map((wire) => logTransport(wire, sink)),
    }),
  };
}

function logTransport(wire: BindingTransport, sink: WireLogSink): BindingTransport {
  const { binding } = wire;
  return {
    binding,
    open(options) {
      sink.line(`calls go to ${sink.masking.url(options.url)} by ${binding}`);
      // What the JSON wires send is text for fetch to log; gRPC has no fetch, and so nobody else to log its headers.
      const interceptors = ["JSONRPC", "HTTP+JSON"].includes(binding)
        ? options.interceptors
        : [...options.interceptors, logCalls(sink, { heads: binding === "GRPC" })];
      return wire.open({ ...options, interceptors });
    },
  };
}

/** Where the log's lines go, and what is taken out of them. */
interface WireLogSink {
  /** One line, indented when it belongs to the one before. */
  line(text: string): void;
  /** A number for the next request. */
  nextId(): number;
  readonly masking: Masking;
}

/** A `fetch` that tells what it sends and gets. */
function logFetch(fetch: typeof globalThis.fetch, sink: WireLogSink): typeof globalThis.fetch {
  return async (input, init) => {
    const id = sink.nextId();
    const startedAt = performance.now();
    const elapsed = (): string => `${(performance.now() - startedAt).toFixed(1)} ms`;
    logRequest(sink, id, input, init);
    try {
      const response = await fetch(input, init);
      sink.line(`[${id}] <- ${response.status} ${response.statusText} after ${elapsed()}`);
      logHeaders(sink, response.headers);
      return logBody(response, sink, id, elapsed);
    } catch (error) {
      sink.line(`[${id}] <- failed after ${elapsed()}: ${sink.masking.text(describe(error))}`);
      throw error;
    }
  };
}

function logRequest(
  sink: WireLogSink,
  id: number,
  input: Parameters<typeof globalThis.fetch>[0],
  init: RequestInit | undefined,
): void {
  const request = input instanceof Request ? input : undefined;
  const url = request?.url ?? String(input);
  const headers = new Headers(init?.headers ?? request?.headers);
  sink.line(`[${id}] -> ${init?.method ?? request?.method ?? "GET"} ${sink.masking.url(url)}`);
  logHeaders(sink, headers);
  const body = init?.body;
  if (typeof body === "string") {
    logText(sink, body);
  } else if (body instanceof Uint8Array) {
    if (isText(headers)) {
      logText(sink, new TextDecoder().decode(body));
    } else {
      sink.line(`  ${body.byteLength} bytes`);
    }
  } else if ((body ?? request?.body ?? null) !== null) {
    sink.line("  a body that is streamed");
  }
}

/** Name and value of each header, one a line. */
function logHeaders(sink: WireLogSink, headers: Headers): void {
  for (const [name, value] of headers) {
    sink.line(`  ${name}: ${sink.masking.header(name, value)}`);
  }
}

function logText(sink: WireLogSink, text: string): void {
  sink.line(`  ${shorten(sink.masking.text(text))}`);
}

/** The same response, whose body is logged while somebody reads it. */
function logBody(response: Response, sink: WireLogSink, id: number, elapsed: () => string): Response {
  const showsText = isText(response.headers);
  const log = new BodyLog((line) => {
    if (showsText) {
      logText(sink, line);
    }
  });
  return observeBody(response, {
    chunk: (bytes) => log.write(bytes),
    end: (how, error) => {
      log.end();
      const why = error === undefined ? "" : ` (${sink.masking.text(describe(error))})`;
      sink.line(`[${id}] <- ${how}${why} after ${log.bytes} bytes and ${elapsed()}`);
    },
  });
}

function isText(headers: Headers): boolean {
  return /json|text\/|xml|urlencoded/i.test(headers.get("content-type") ?? "");
}

/** An error and what caused it. */
function describe(error: unknown): string {
  const messages: string[] = [];
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    messages.push(at.message);
  }
  return messages.length === 0 ? String(error) : messages.join(": ");
}

/** What is logged about calls. */
interface CallLogOptions {
  /** Address, headers and trailers as well: where no `fetch` shows them. */
  readonly heads: boolean;
}

/** Logs calls as messages in JSON: for binary wires. */
function logCalls(sink: WireLogSink, { heads }: CallLogOptions): Interceptor {
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

/** Characters of one body, or of all messages of one stream, that are logged. */
export const maxLoggedLength = 16_384;

/** Prints the text of a body line by line, as it arrives, and no more than a limit of it. */
export class BodyLog {
  readonly #print: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #pending = "";
  #printed = 0;
  #bytes = 0;

  /** @param print gets each line whole, so that nothing that is masked is ever cut in two */
  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  write(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#isFull) {
      return;
    }
    this.#pending += this.#decoder.decode(chunk, { stream: true });
    const lines = this.#pending.split(/\r\n|\n|\r/);
    this.#pending = lines.pop() ?? "";
    for (const line of lines) {
      this.#line(line);
    }
    if (this.#pending.length > maxLoggedLength) {
      this.#flush();
    }
  }

  end(): void {
    if (!this.#isFull) {
      this.#flush();
    }
  }

  get #isFull(): boolean {
    return this.#printed > maxLoggedLength;
  }

  #flush(): void {
    this.#line(this.#pending);
    this.#pending = "";
  }

  #line(line: string): void {
    if (line !== "" && !this.#isFull) {
      this.#print(line);
      this.#printed += line.length;
    }
  }
}

/** The beginning of a text that was masked already. */
function shorten(text: string): string {
  return text.length <= maxLoggedLength
    ? text
    : `${text.slice(0, maxLoggedLength)} … ${text.length - maxLoggedLength} characters more`;
}
