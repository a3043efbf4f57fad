import type { CallRuntime } from "@a2a-connect/core/internal";

/** One HTTP request, the same for all our wires: Connect's `UniversalServerRequest` with a body of bytes. */
export interface HttpRequest extends CallRuntime {
  /** "1.0", "1.1" or "2.0". */
  readonly httpVersion: string;
  /** An absolute URL. Of a server that is mounted, it does not have the path of the mount any more. */
  readonly url: string;
  /**
   * Whether the server is for this machine alone: it listens on loopback addresses only, or it is mounted and knows that of this
   * request. Then every caller is a program on this machine: a client, a proxy, a tunnel or a browser. Default false.
   */
  readonly boundToLoopback?: boolean;
  /**
   * Whether the server uses what proxies tell about its URL. Then `forwardedUrl` depends on header fields, present or
   * not. Default false.
   */
  readonly trustsProxies?: boolean;
  readonly method: string;
  readonly header: Headers;
  readonly body: HttpBody;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** A request body. It can be read once. */
export interface HttpBody extends AsyncIterable<Uint8Array> {
  /**
   * A fast path for runtimes that can collect a body without iterating over it.
   *
   * @throws ConnectError `bodyTooLarge(maxBytes)` when the body is longer
   */
  bytes?(maxBytes: number): Promise<Uint8Array>;
  /**
   * After `bytes`, for a body that is not short: waits until it may be decompressed and parsed. Of bodies up to 64 KiB as many are
   * in a turn of the event loop as have 64 KiB together, of larger ones one of each caller at a time; others are served in between. `release`
   * ends the turn.
   *
   * @param length bytes that it is parsed from, at most
   * @param callerNetwork whose body it is: callers take turns
   * @param unpackedBytes what a small body has in memory after decompression: it counts with the body, from now on. Default 0
   * @throws ConnectError when the caller has gone, or the body's memory is needed for others
   */
  turnBeforeMessage?(
    length: number,
    callerNetwork: string | undefined,
    unpackedBytes?: number,
  ): Promise<void>;
  /**
   * After `bytes`, when nothing will read them any more, as when a text was decoded. A garbage collector would keep a large body for as long
   * as its message is made and answered.
   */
  freeBytes?(): void;
  /**
   * A message was made of the body, or never will be: its bytes do not count any more, and its turn is over. After a
   * body that had one there is something to wait for: everything else that waits for the event loop has its turn before the call begins.
   */
  release?(): Promise<void> | undefined;
}

/**
 * One HTTP response. A body of bytes or text (UTF-8) is sent in one piece with its length. An iterable body is sent
 * chunk by chunk, and other calls run between large chunks. Text costs a runtime less than bytes if it can write text
 * together with the head.
 */
export interface HttpResponse {
  readonly status: number;
  readonly header?: Headers;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly trailer?: Headers;
  /**
   * For an iterable body: the head is sent before the first chunk is ready, which may take long. Default false: both
   * are sent together, and header fields may be set until the first chunk is ready.
   */
  readonly headAtOnce?: boolean;
  /**
   * The rest of the request is not wanted: over HTTP/2 its stream ends with this response, which has no trailers. Default
   * false: what comes of the request is thrown away, within limits.
   */
  readonly endsRequest?: boolean;
}

/** Answers one HTTP request. The code that serves sockets calls it. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** Header of a stream's response: the event id of its first message; the following messages count up from it. */
export const eventIdHeader = "x-a2a-event-id";
