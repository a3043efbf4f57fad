import { isLoopbackHost, readAtMost } from "@a2a-connect/core/internal";

/** Requests to authorization servers. */
export type Fetch = typeof globalThis.fetch;

const timeoutMs = 5_000;
const maxBytes = 1024 * 1024;

/** The same without redirects, with at most 1 MiB of an answer, within 5 seconds. */
export function withLimits(fetch: Fetch): Fetch {
  return async (input, init) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(input, { ...init, redirect: "manual", signal });
    const { body, status, headers } = response;
    if (body === null) return response;
    const bytes = await readAtMost(body, maxBytes);
    if (bytes === undefined) throw new Error(`the answer is longer than ${maxBytes} bytes`);
    return new Response(bytes, { status, headers });
  };
}

/** @throws Error when it is no https URL; on this machine http will do */
export function parseServerUrl(what: string, text: string): URL {
  const url = URL.parse(text);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (url === null || !isSafe) {
    throw new Error(`${what} is an https URL, not ${JSON.stringify(text)}`);
  }
  return url;
}
