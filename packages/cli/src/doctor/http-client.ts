import { explainNetworkFailure, type NetworkFailure } from "./network-failure.ts";

/** What came back. */
export interface HttpAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** As UTF-8; cut off at the limit. */
  readonly text: string;
  /** False when the body was longer than the limit. */
  readonly complete: boolean;
  readonly ms: number;
}

/** An answer, or why there is none. */
export type HttpOutcome =
  | { readonly answer: HttpAnswer; readonly failure?: undefined }
  | { readonly answer?: undefined; readonly failure: NetworkFailure };

/** Asks servers that may be sick: every request has a time limit and a size limit, and no redirect is followed. */
export interface HttpClient {
  /** For a whole exchange. */
  readonly timeoutMs: number;
  request(url: string, init?: RequestInit): Promise<HttpOutcome>;
}

/** What an HttpClient is made of. */
export interface HttpClientOptions {
  readonly fetch: typeof globalThis.fetch;
  /** For a whole exchange. */
  readonly timeoutMs: number;
  /** Bytes of a body that are read. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** @throws the signal's reason when it is aborted; nothing else */
export function createHttpClient({ fetch, timeoutMs, maxBytes, signal }: HttpClientOptions): HttpClient {
  return {
    timeoutMs,
    async request(url, init = {}) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const startedAt = performance.now();
      try {
        const response = await fetch(url, { ...init, redirect: "manual", signal: limit });
        const { text, complete } = await readText(response, maxBytes);
        const { status, headers } = response;
        return {
          answer: { url, status, headers, text, complete, ms: Math.round(performance.now() - startedAt) },
        };
      } catch (error) {
        signal.throwIfAborted();
        return { failure: explainNetworkFailure(error) };
      }
    },
  };
}

/** The body up to a limit; the rest is not waited for. */
export async function readText(
  response: Response,
  maxBytes: number,
): Promise<{ text: string; complete: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      return {
        text: text + decoder.decode(chunk.subarray(0, chunk.byteLength - (bytes - maxBytes))),
        complete: false,
      };
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), complete: true };
}
