import { BodyLog, shorten } from "./body-log.ts";
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
  if (response.body === null) {
    return response;
  }
  const showsText = isText(response.headers);
  const log = new BodyLog((line) => {
    if (showsText) {
      logText(sink, line);
    }
  });
  const end = (how: string): void => {
    log.end();
    sink.line(`[${id}] <- ${how} after ${log.bytes} bytes and ${elapsed()}`);
  };
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            end("ended");
            controller.close();
          } else {
            log.write(value);
            controller.enqueue(value);
          }
        } catch (error) {
          end(`broke (${sink.masking.text(describe(error))})`);
          controller.error(error);
        }
      },
      async cancel(reason) {
        end("left");
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url, redirected } = response;
  // The constructor cannot set these two.
  return Object.defineProperties(new Response(body, { status, statusText, headers }), {
    url: { value: url },
    redirected: { value: redirected },
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
