import type { Interceptor } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { startTimer, type Timer } from "./timer.ts";

/** The wires of A2A, as errors and `HandlerContext.protocolName` name them. */
export type Wire = "jsonrpc" | "http-json" | "grpc" | "grpc-web" | "connect";

/** Where an error came up, for a log. */
export interface ErrorContext {
  /** `jsonrpc`, `http-json`, `grpc`, `grpc-web` or `connect`. */
  readonly wire: string;
  /** Name of the operation, undefined when none was reached. */
  readonly method: string | undefined;
}

/** What the server end of every wire may be told. Every limit holds for each request by itself. */
export interface BindingOptions {
  /** Longest request body in bytes, compressed and decompressed alike. Default 16 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * How many times its compressed length a request body, or its one message, may unpack to; 4 MiB are always fine. Default
   * 200: tables and logs reach 50 with gzip, 110 with br.
   */
  readonly maxCompressionRatio?: number;
  /** Nested JSON objects and arrays in a request message. Default 100. */
  readonly maxJsonDepth?: number;
  /**
   * Values in a request: objects, arrays, strings, numbers, true, false and null; each member name is one more. Over binary
   * wires, what they come to. Everything counts, unknown fields and the envelope of JSON-RPC included. Default 120,000.
   */
  readonly maxValues?: number;
  /** Content codings that are accepted and offered, best first. Default none; the Node listener brings gzip and br. */
  readonly compressions?: readonly Compression[];
  /** Shortest response body in bytes that is worth compressing. Default 1024. */
  readonly compressMinBytes?: number;
  /** Silence in milliseconds after which an SSE stream carries a comment. Default 15,000. */
  readonly keepAliveMs?: number;
  /**
   * How long in milliseconds a stream waits for its first event before its headers go out. Over SSE an error within this
   * time is a plain response, a later one an event (requirement I-7). Default 1,000.
   */
  readonly openAfterMs?: number;
  /** Media type of an HTTP+JSON response when the request names none (requirement K-3). Default `a2a`. */
  readonly jsonMedia?: "a2a" | "json";
  /** Around every call on every wire, first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Told what a caller is not told: whatever was thrown and left as a masked internal error. */
  readonly onError?: (thrown: unknown, context: ErrorContext) => void;
  /** Runs keep-alives and deadlines. Default the platform's timers. */
  readonly timer?: Timer;
}

/** `BindingOptions` with every default filled in. */
export type BindingSettings = Required<BindingOptions>;

/** Fill in the defaults. */
export function resolveOptions(options: BindingOptions): BindingSettings {
  return {
    maxBodyBytes: options.maxBodyBytes ?? 16 * 1024 * 1024,
    maxCompressionRatio: options.maxCompressionRatio ?? 200,
    maxJsonDepth: options.maxJsonDepth ?? 100,
    maxValues: options.maxValues ?? 120_000,
    compressions: options.compressions ?? [],
    compressMinBytes: options.compressMinBytes ?? 1024,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    openAfterMs: options.openAfterMs ?? 1_000,
    jsonMedia: options.jsonMedia ?? "a2a",
    interceptors: options.interceptors ?? [],
    onError: options.onError ?? (() => {}),
    timer: options.timer ?? startTimer,
  };
}
