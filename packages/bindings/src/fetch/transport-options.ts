import { setServiceParameters, versionHeader } from "@a2a-connect/core/internal";
import type { Interceptor } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { WireFetch } from "./wire-fetch.ts";

/** Options of the client end of a JSON wire. */
export interface JsonTransportOptions {
  /** Sends the requests. Default the platform's `fetch`. */
  readonly fetch?: WireFetch;
  /** Run around every call, the first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Header fields of every request; those of a call take precedence. */
  readonly headers?: HeadersInit;
  /** Longest response, or event of a stream, in bytes after decompression. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Compresses request bodies. Default none, because a server need not support it. */
  readonly sendCompression?: Compression;
  /** Shortest request body in bytes that is worth compressing. Default 1024. */
  readonly compressMinBytes?: number;
  /** Time limit in milliseconds for calls without one. Default none. */
  readonly defaultTimeoutMs?: number;
}

/** The options that every request needs, with their defaults. */
export interface TransportSettings {
  readonly fetch: WireFetch;
  readonly interceptors: Interceptor[];
  readonly headers: HeadersInit | undefined;
  readonly maxResponseBytes: number;
  readonly sendCompression: Compression | undefined;
  readonly compressMinBytes: number;
  readonly defaultTimeoutMs: number | undefined;
}

/** Fill in the defaults. */
export function resolveTransportOptions(options: JsonTransportOptions): TransportSettings {
  return {
    // Looked up at each call, so that a test or a polyfill may replace it.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    interceptors: [...(options.interceptors ?? [])],
    headers: options.headers,
    maxResponseBytes: options.maxResponseBytes ?? 64 * 1024 * 1024,
    sendCompression: options.sendCompression,
    compressMinBytes: options.compressMinBytes ?? 1024,
    defaultTimeoutMs: options.defaultTimeoutMs,
  };
}

/** Header fields of one call for its interceptors. `A2A-Version` is the default unless the caller set it (F-2). */
export function callHeaders({ headers }: TransportSettings, own: HeadersInit | undefined): Headers {
  const merged = new Headers(headers ?? own);
  if (headers !== undefined) {
    new Headers(own).forEach((value, name) => {
      merged.set(name, value);
    });
  }
  if (!merged.has(versionHeader)) {
    setServiceParameters(merged);
  }
  return merged;
}
