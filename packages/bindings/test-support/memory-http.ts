import type { HttpHandler, HttpRequest, HttpResponse } from "../src/http.ts";

/** A request that never was on a socket. */
export interface RequestInit {
  readonly method?: string;
  readonly url?: string;
  readonly header?: HeadersInit;
  /** Chunks of the body; a string is one chunk. */
  readonly body?: string | readonly Uint8Array[];
  readonly signal?: AbortSignal;
}

/** Make a request as a runtime would hand it to a handler. */
export function memoryRequest(init: RequestInit = {}): HttpRequest {
  const chunks = typeof init.body === "string" ? [new TextEncoder().encode(init.body)] : (init.body ?? []);
  return {
    httpVersion: "1.1",
    url: init.url ?? "http://localhost/",
    method: init.method ?? "POST",
    header: new Headers(init.header),
    body: toBody(chunks),
    signal: init.signal ?? new AbortController().signal,
  };
}

async function* toBody(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** The whole body of a response as text. */
export async function responseText({ body }: HttpResponse): Promise<string> {
  return new TextDecoder().decode(await responseBytes(body));
}

async function responseBytes(body: HttpResponse["body"]): Promise<Uint8Array> {
  if (typeof body === "string") {
    return new TextEncoder().encode(body);
  }
  if (body === undefined || body instanceof Uint8Array) {
    return body ?? new Uint8Array();
  }
  const chunks: number[] = [];
  for await (const chunk of body) {
    chunks.push(...chunk);
  }
  return Uint8Array.from(chunks);
}

/** The body of a response as parsed JSON. */
export async function responseJson(response: HttpResponse): Promise<unknown> {
  return JSON.parse(await responseText(response));
}

/** A `fetch` that calls a handler directly. */
export function handlerFetch(handler: HttpHandler): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // Not the request's own, which only follows the caller's: what waits for it alone is garbage, and would wait for ever.
    const signal = init?.signal ?? request.signal;
    const bytes = new Uint8Array(await request.arrayBuffer());
    const { status, header, body } = await handler({
      ...memoryRequest({ method: request.method, url: request.url, header: request.headers, body: [bytes] }),
      signal,
    });
    signal.throwIfAborted();
    const payload =
      typeof body !== "object" || body instanceof Uint8Array ? body?.slice() : toStream(body, signal);
    return new Response(
      status === 204 ? null : (payload ?? null),
      header === undefined ? { status } : { status, headers: header },
    );
  };
}

/** A stream that breaks as a socket's does when the call is aborted. */
function toStream(body: AsyncIterable<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      signal.addEventListener("abort", () => controller.error(signal.reason), { once: true });
    },
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (signal.aborted) {
        return;
      }
      if (done === true) {
        controller.close();
      } else {
        controller.enqueue(value);
      }
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
