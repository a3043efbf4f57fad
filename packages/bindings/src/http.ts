/** One HTTP request as every wire of ours sees it: Connect's `UniversalServerRequest` with a body of bytes. */
export interface HttpRequest {
  /** "1.0", "1.1" or "2.0". */
  readonly httpVersion: string;
  /** Absolute. */
  readonly url: string;
  /**
   * Whether the server is bound to an address of loopback alone, so that every caller is on its own machine, or comes through
   * something there: a proxy, a tunnel, a browser. Default false.
   */
  readonly boundToLoopback?: boolean;
  /**
   * Whether the server listens to what proxies say about its URL: then `forwardedUrl` depends on header fields, whether
   * they are there or not. Default false.
   */
  readonly trustsProxies?: boolean;
  /**
   * Where callers reach this server, when a proxy that is trusted has said so: base URL without a trailing slash, with the
   * prefix of paths that the proxy takes off. Undefined: nobody trustworthy said.
   */
  readonly forwardedUrl?: string | undefined;
  /**
   * Where the caller is: IPv4 address, or IPv6 network of 64 bits; of the connection, or as a trusted proxy says. Undefined:
   * not known. It tells callers apart that have no credentials.
   */
  readonly callerNetwork?: string | undefined;
  readonly method: string;
  readonly header: Headers;
  readonly body: HttpBody;
  /**
   * Counts about so many bytes more that the answer takes in memory until it is sent, or, when negative, fewer. A server that
   * bounds what unread answers take has it. Small answers are not counted.
   *
   * @throws ConnectError ResourceExhausted, reason CAPACITY, when all answers together take too much
   */
  hold?(bytes: number): void;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
}

/** A request body, read once. */
export interface HttpBody extends AsyncIterable<Uint8Array> {
  /**
   * The fast path of a runtime that can collect a body without iterating over it.
   *
   * @throws ConnectError `bodyTooLarge(maxBytes)` when the body is longer
   */
  bytes?(maxBytes: number): Promise<Uint8Array>;
  /**
   * After `bytes`, for a body that is not short: waits until it may be decompressed and parsed. Of bodies up to 64 KiB as many are
   * in a turn of the event loop as have 64 KiB together, of larger ones one at a time; others are served in between. `release`
   * ends the turn.
   *
   * @param length bytes that it is parsed from, at most
   * @throws ConnectError when the caller has gone, or the body's memory is needed for others
   */
  turn?(length: number): Promise<void>;
  /**
   * A message was made of the body, or never will be: its bytes do not count any more, and its turn is over. After a
   * body that had one there is something to wait for: everything else that waits for the event loop has its turn before the call begins.
   */
  release?(): Promise<void> | undefined;
}

/**
 * One HTTP response. A body of bytes or text (UTF-8) is sent in one piece with its length, an iterable chunk by chunk, and
 * between chunks that are not small everybody else has a turn.
 * Text costs a runtime less than bytes where it can write it together with the head.
 */
export interface HttpResponse {
  readonly status: number;
  readonly header?: Headers;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly trailer?: Headers;
  /**
   * For an iterable body: the head goes out before the first chunk is there, which may be long in coming. Default false:
   * both go out together, and header fields may be set until the first chunk is there.
   */
  readonly headAtOnce?: boolean;
}

/** Answers one HTTP request; whatever serves sockets calls it. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** Header of a stream's response: the event id of its first message; the following messages count up from it. */
export const eventIdHeader = "x-a2a-event-id";
