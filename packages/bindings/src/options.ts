import { callUnawaited, defaultMaxDepth, startTimer, type Timer } from "@a2a-connect/core/internal";
import type { Interceptor } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";

/** The wires of A2A, as errors and `HandlerContext.protocolName` name them. */
export type Wire = "jsonrpc" | "http-json" | "grpc" | "grpc-web" | "connect";

/** Where an error happened, for a log. */
export interface ErrorContext {
  /** `jsonrpc`, `http-json`, `grpc`, `grpc-web` or `connect`. */
  readonly wire: string;
  /** Name of the operation; undefined when the call did not reach one. */
  readonly method: string | undefined;
}

/** Options of the server end of every wire. Every limit applies to each request separately. */
export interface BindingOptions {
  /** Longest request body in bytes, compressed and decompressed alike. Default 16 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * How many times its compressed length a request body, or its one message, may have after decompression; up to 4 MiB
   * are always allowed. Default 200: tables and logs reach 50 with gzip, 110 with br.
   */
  readonly maxCompressionRatio?: number;
  /** How deep JSON objects and arrays in a request message may be nested. Default 100. */
  readonly maxJsonDepth?: number;
  /**
   * Values in a request: each object, array, string, number, true, false, null and member name counts one, also in
   * unknown fields and in the envelope of JSON-RPC. A binary request counts as its JSON would. Default 120,000.
   */
  readonly maxValues?: number;
  /**
   * Content codings that the server accepts and offers, best first. Default none; the Node listener adds gzip and br.
   */
  readonly compressions?: readonly Compression[];
  /** Shortest response body in bytes that is worth compressing. Default 1024. */
  readonly compressMinBytes?: number;
  /** Silence in milliseconds after which the server sends a comment on an SSE stream. Default 15,000. */
  readonly keepAliveMs?: number;
  /**
   * How long in milliseconds a stream waits for its first event before the server sends its headers. Over SSE an error
   * within this time is a plain response, a later one an event (requirement I-7). Default 1,000.
   */
  readonly openAfterMs?: number;
  /** Media type of an HTTP+JSON response when the request names none (requirement K-3). Default `a2a`. */
  readonly jsonMedia?: "a2a" | "json";
  /** Run around every call on every wire, the first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Gets what the caller must not see: thrown values that the caller sees as an internal error. */
  readonly onError?: (thrown: unknown, context: ErrorContext) => void;
  /** Whether the JSON wires and gRPC also answer calls of A2A 0.3, in its own form (docs/versions.md). Default false. */
  readonly olderVersions?: boolean;
  /** Timers for keep-alives and deadlines. Default the platform's. */
  readonly timer?: Timer;
}

/** `BindingOptions` with every default filled in. */
export type BindingSettings = Required<BindingOptions>;

/** Fill in the defaults. */
export function resolveOptions(options: BindingOptions): BindingSettings {
  return {
    maxBodyBytes: options.maxBodyBytes ?? 16 * 1024 * 1024,
    maxCompressionRatio: options.maxCompressionRatio ?? 200,
    maxJsonDepth: options.maxJsonDepth ?? defaultMaxDepth,
    maxValues: options.maxValues ?? 120_000,
    compressions: options.compressions ?? [],
    compressMinBytes: options.compressMinBytes ?? 1024,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    openAfterMs: options.openAfterMs ?? 1_000,
    jsonMedia: options.jsonMedia ?? "a2a",
    interceptors: options.interceptors ?? [],
    onError: (thrown, context) => callUnawaited(() => options.onError?.(thrown, context)),
    olderVersions: options.olderVersions ?? false,
    timer: options.timer ?? startTimer,
  };
}
