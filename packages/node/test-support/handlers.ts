import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";

/** What the echo handler saw of a request. */
export interface Echo {
  readonly httpVersion: string;
  readonly method: string;
  readonly url: string;
  readonly header: Record<string, string>;
  readonly bytes: number;
}

export function json(value: unknown, status = 200): HttpResponse {
  return {
    status,
    header: new Headers({ "content-type": "application/json" }),
    body: new TextEncoder().encode(JSON.stringify(value)),
  };
}

export async function readBytes(request: HttpRequest, maxBytes: number): Promise<Uint8Array> {
  if (request.body.bytes === undefined) throw new Error("the Node listener offers bytes()");
  return request.body.bytes(maxBytes);
}

/** Answers with an `Echo`. */
export const echo: HttpHandler = async (request) => {
  const body = await readBytes(request, 16 * 1024 * 1024);
  const { httpVersion, method, url } = request;
  return json({ httpVersion, method, url, header: Object.fromEntries(request.header), bytes: body.length });
};

/** A promise and its resolver, for a test that decides when the handler goes on. */
export function createGate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Resolves with the reason once the signal aborts. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve(signal.reason);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  return promise;
}
