import { createFramed, type Framed } from "../ui/frame.ts";

/** Bytes of a body that are kept; a stream goes on when there are more. */
const maxKept = 512 * 1024;

/** One HTTP request that the page made, and its response so far. */
export class Exchange {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Headers;
  readonly requestBody: Uint8Array;
  readonly began: number = performance.now();
  status: number | undefined;
  responseHeaders: Headers | undefined;
  /** Times in milliseconds after the beginning. */
  headMs: number | undefined;
  endMs: number | undefined;
  chunks = 0;
  bytes = 0;
  /** How it ended, if not as it should. */
  failure: "cut" | "failed" | undefined;
  readonly #kept: Uint8Array[] = [];
  readonly #abort: () => void;

  constructor(
    request: { method: string; url: string; headers: Headers; body: Uint8Array },
    abort: () => void,
  ) {
    this.method = request.method;
    this.url = request.url;
    this.requestHeaders = request.headers;
    this.requestBody = request.body;
    this.#abort = abort;
  }

  get isOpen(): boolean {
    return this.endMs === undefined;
  }

  /** The response's body, up to a limit. */
  get responseBody(): Uint8Array {
    return joinBytes(this.#kept);
  }

  take(chunk: Uint8Array): void {
    this.chunks += 1;
    if (this.bytes < maxKept) this.#kept.push(chunk);
    this.bytes += chunk.length;
  }

  /** Breaks the connection, as a network would. */
  cut(): void {
    if (!this.isOpen) return;
    this.failure = "cut";
    this.#abort();
  }
}

/** A `fetch` that keeps what goes over the wire. */
export interface Recording extends Framed<readonly Exchange[]> {
  readonly fetch: typeof fetch;
}

export function createRecording(inner: typeof fetch): Recording {
  const exchanges: Exchange[] = [];
  const framed = createFramed<readonly Exchange[]>(exchanges);
  return {
    ...framed,
    async fetch(input, init) {
      const broken = new AbortController();
      const request = new Request(input, init);
      const body = new Uint8Array(await request.clone().arrayBuffer());
      const { method, url, headers } = request;
      let breakBody = (): void => {};
      const exchange = new Exchange({ method, url, headers, body }, () => {
        breakBody();
        broken.abort(new TypeError("the connection was cut"));
      });
      exchanges.push(exchange);
      framed.changed();
      const since = (): number => performance.now() - exchange.began;
      const signals = [init?.signal, broken.signal].filter((each) => each !== undefined && each !== null);
      try {
        const response = await inner(input, { ...init, signal: AbortSignal.any(signals) });
        exchange.status = response.status;
        exchange.responseHeaders = response.headers;
        exchange.headMs = since();
        framed.changed();
        if (response.body === null) {
          exchange.endMs = since();
          return response;
        }
        const reader = response.body.getReader();
        const copy = new ReadableStream<Uint8Array>({
          start(controller) {
            breakBody = () => controller.error(new TypeError("network error"));
          },
          async pull(controller) {
            try {
              const { done, value } = await reader.read();
              if (done) {
                exchange.endMs = since();
                controller.close();
              } else {
                exchange.take(value);
                controller.enqueue(value);
              }
            } catch (error) {
              exchange.failure ??= "failed";
              exchange.endMs ??= since();
              controller.error(error);
            }
            framed.changed();
          },
          async cancel(reason) {
            exchange.endMs ??= since();
            framed.changed();
            await reader.cancel(reason);
          },
        });
        const { status, statusText, headers: responseHeaders } = response;
        return new Response(copy, { status, statusText, headers: responseHeaders });
      } catch (error) {
        exchange.failure ??= "failed";
        exchange.endMs = since();
        framed.changed();
        throw error;
      }
    },
  };
}

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
