import { BodyLog, shorten } from "./body-log.ts";
import { observeBody } from "./observe-body.ts";
import type { WireLogSink } from "./wire-log-sink.ts";

/** A `fetch` that tells what it sends and gets. */
export function logFetch(fetch: typeof globalThis.fetch, sink: WireLogSink): typeof globalThis.fetch {
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
export function logHeaders(sink: WireLogSink, headers: Headers): void {
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
