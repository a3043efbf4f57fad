import { type BindingTransport, type ClientPlatform, webTransports } from "@a2a-connect/client/internal";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { describeCauses } from "../cli-error.ts";
import type { TextSink } from "../cli-io.ts";
import { toText } from "../output.ts";
import type { Settings } from "../settings/resolve.ts";
import { type Masking, maskSettings } from "./masking.ts";
import { observeBody } from "./observe-body.ts";

/**
 * What goes over the wire, on stderr (`--debug`): requests and responses with headers, bodies and times. Where the wire is
 * binary its messages are shown as JSON instead of its bytes. Credentials are always masked.
 */
export class WireLog {
  readonly #stderr: TextSink;
  readonly #masking: Masking;
  #requests = 0;

  constructor(stderr: TextSink, settings: Settings) {
    this.#stderr = stderr;
    this.#masking = maskSettings(settings);
  }

  /** Logs requests by `fetch`: cards, and every binding but gRPC. */
  wrapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      const request = input instanceof Request ? input : undefined;
      const method = init?.method ?? request?.method ?? "GET";
      const answer = this.#begin(`${method} ${this.#masking.url(request?.url ?? String(input))}`);
      const headers = new Headers(init?.headers ?? request?.headers);
      this.#headers(headers);
      this.#requestBody(init?.body ?? request?.body, headers);
      try {
        const response = await fetch(input, init);
        answer((time) => `${response.status} ${response.statusText} after ${time}`);
        this.#headers(response.headers);
        return this.#watchBody(response, answer);
      } catch (error) {
        answer((time) => `failed after ${time}: ${this.#masking.text(describeCauses(error))}`);
        throw error;
      }
    };
  }

  /** Logs the messages of binary bindings, and which binding is used, below everything that changes a call. */
  wrapPlatform<Platform extends ClientPlatform>(platform: Platform): Platform {
    const wires = [...(platform.transports ?? []), ...webTransports];
    return { ...platform, transports: wires.map((wire) => this.#wrapTransport(wire)) };
  }

  #wrapTransport(wire: BindingTransport): BindingTransport {
    const { binding } = wire;
    // What the JSON wires send is text for fetch to log; gRPC has no fetch, and so nothing else logs its headers.
    const isText = binding === "JSONRPC" || binding === "HTTP+JSON";
    const own = isText ? [] : [this.#logCalls(binding === "GRPC")];
    return {
      ...wire,
      open: (options) => {
        this.#line(`calls go to ${this.#masking.url(options.url)} by ${binding}`);
        return wire.open({ ...options, interceptors: [...options.interceptors, ...own] });
      },
    };
  }

  /** @param heads whether to log address, headers and trailers as well */
  #logCalls(heads: boolean): Interceptor {
    return (next) => async (request) => {
      const { method } = request;
      const answer = this.#begin(heads ? `${method.name} ${this.#masking.url(request.url)}` : method.name);
      const showHeaders = (headers: Headers): void => {
        if (heads) this.#headers(headers);
      };
      const fail = (error: unknown): void => {
        const { code, rawMessage } = ConnectError.from(error);
        answer((time) => `${Code[code]} after ${time}: ${this.#masking.text(rawMessage)}`);
      };
      showHeaders(request.header);
      try {
        if (!request.stream) this.#message(method.input, request.message);
        const response = await next(
          request.stream
            ? { ...request, message: tap(request.message, (message) => this.#message(method.input, message)) }
            : request,
        );
        answer((time) => `answer after ${time}`);
        showHeaders(response.header);
        if (!response.stream) {
          this.#message(method.output, response.message);
          return response;
        }
        const end = (): void => {
          answer((time) => `ended after ${time}`);
          showHeaders(response.trailer);
        };
        const message = tap(response.message, (each) => this.#message(method.output, each), end, fail);
        return { ...response, message };
      } catch (error) {
        fail(error);
        throw error;
      }
    };
  }

  /** One line, indented when it belongs to the one before. */
  #line(text: string): void {
    // Without a reader there is nothing to do.
    this.#stderr.write(`debug: ${toText(text).replaceAll("\n", "\ndebug:   ")}\n`).catch(() => {});
  }

  /** Logs a request; what is said of its answer has the same number. */
  #begin(request: string): Answer {
    const id = ++this.#requests;
    const startedAt = performance.now();
    this.#line(`[${id}] -> ${request}`);
    return (say) => this.#line(`[${id}] <- ${say(`${(performance.now() - startedAt).toFixed(1)} ms`)}`);
  }

  #headers(headers: Headers): void {
    for (const [name, value] of headers) this.#line(`  ${name}: ${this.#masking.header(name, value)}`);
  }

  #requestBody(body: BodyInit | null | undefined, headers: Headers): void {
    if (typeof body === "string") this.#text(body);
    else if (body instanceof Uint8Array && isText(headers)) this.#text(new TextDecoder().decode(body));
    else if (body instanceof Uint8Array) this.#line(`  ${body.byteLength} bytes`);
    else if (body !== null && body !== undefined) this.#line("  a body that is streamed");
  }

  #message<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): void {
    this.#text(JSON.stringify(toJson<DescMessage>(desc, message)));
  }

  #text(content: string): void {
    const text = this.#masking.text(content);
    const more = text.length - maxLoggedLength;
    this.#line(`  ${more <= 0 ? text : `${text.slice(0, maxLoggedLength)} … ${more} characters more`}`);
  }

  /** The same response, whose body is logged while it is read. */
  #watchBody(response: Response, answer: Answer): Response {
    const showsText = isText(response.headers);
    const log = new BodyLog((line) => {
      if (showsText) this.#text(line);
    });
    return observeBody(response, {
      chunk: (bytes) => log.write(bytes),
      end: (how, error) => {
        log.end();
        const why = error === undefined ? "" : ` (${this.#masking.text(describeCauses(error))})`;
        answer((time) => `${how}${why} after ${log.bytes} bytes and ${time}`);
      },
    });
  }
}

/** Says what comes of a request, and after which time. */
type Answer = (say: (time: string) => string) => void;

/** Whether people can read a body. */
export function isText(headers: Headers): boolean {
  return /json|text\/|xml|urlencoded/i.test(headers.get("content-type") ?? "");
}

async function* tap<T>(
  messages: AsyncIterable<T>,
  look: (message: T) => void,
  end: () => void = () => {},
  fail: (error: unknown) => void = () => {},
): AsyncGenerator<T, void> {
  try {
    for await (const message of messages) {
      look(message);
      yield message;
    }
    end();
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** Characters of one body, or of all messages of one stream, that are logged. */
export const maxLoggedLength = 16_384;

/** Prints the text of a body line by line, as it arrives, and no more than a limit of it. */
export class BodyLog {
  bytes = 0;
  readonly #print: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #pending = "";
  #left = maxLoggedLength;

  /** @param print gets each line whole, so that nothing that is masked is ever cut in two */
  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  write(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength;
    if (this.#left < 0) return;
    const lines = (this.#pending + this.#decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r/);
    this.#pending = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    if (this.#pending.length > maxLoggedLength) this.end();
  }

  end(): void {
    this.#line(this.#pending);
    this.#pending = "";
  }

  #line(line: string): void {
    if (line === "" || this.#left < 0) return;
    this.#print(line);
    this.#left -= line.length;
  }
}
