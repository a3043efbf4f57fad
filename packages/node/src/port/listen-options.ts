import { readFileSync } from "node:fs";
import type { HttpRequest } from "@a2a-connect/bindings";
import { scaleToHeap } from "@a2a-connect/core/internal";

/**
 * Where and how to listen. The defaults of `maxConnections`, `maxStreamsPerConnection`, `maxStreams`, `maxUnreadBytes`,
 * `maxBodyBytesPerConnection` and `maxTotalBodyBytes` are for a heap of 2 GiB or more: a smaller one gets as much less of them.
 */
export interface ListenOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /**
   * Name or address to bind. The default, "localhost", binds 127.0.0.1, which every client that tries `localhost`
   * reaches; "0.0.0.0" and "::" are open to the network.
   */
  readonly host?: string;
  /** Serves TLS, with HTTP/2 or HTTP/1.1 chosen by ALPN. Without it the port is cleartext: HTTP/1.1 and h2c. */
  readonly tls?: {
    readonly cert: string | Uint8Array;
    readonly key: string | Uint8Array;
    /**
     * The authorities whose client certificates count, PEM. Clients may then present one (mutual TLS); the gate `mutualTls` makes
     * it necessary. Default: clients are not asked for any.
     */
    readonly clientCa?: string | readonly string[];
  };
  /**
   * Proxies that are believed when they say where callers reach this server (`X-Forwarded-Proto`, `-Host`,
   * or `Forwarded`), and where callers are (`Forwarded`, `X-Forwarded-For`): addresses, networks such as `10.0.0.0/8`, and `loopback`. Each of them must set these fields, or drop
   * those that its caller sent. Default: none is trusted.
   */
  readonly trustedProxies?: readonly string[];
  /** How long a connection may stay silent or ambiguous before its protocol is known (also the TLS handshake). Default 10 s. */
  readonly firstByteTimeoutMs?: number;
  /**
   * How long the header of a request may take; then 408. A connection of HTTP/2 is closed, so long after 4 KiB of a header have come that
   * is not complete. Default 30 s.
   */
  readonly headersTimeoutMs?: number;
  /** How long a whole request, body included, may take to arrive. Default 5 min. */
  readonly requestTimeoutMs?: number;
  /** How long an idle HTTP/1.1 connection is kept. Default 65 s: longer than the 60 s of common proxies, which close first. */
  readonly keepAliveTimeoutMs?: number;
  /** How long an HTTP/2 connection without open streams is kept. Default 5 min. */
  readonly idleSessionTimeoutMs?: number;
  /**
   * Time after which an HTTP/2 peer with open streams gets a PING, or an empty SETTINGS after a GOAWAY. Default 30 s;
   * 0: never, and a peer that vanished is detected when a write stalls.
   */
  readonly pingIntervalMs?: number;
  /**
   * How long the peer then has to send any byte; after that the connection is cut with its streams. Default 20 s. A peer that may have to read
   * megabytes first has up to 5 min more.
   */
  readonly pingTimeoutMs?: number;
  /** How long a write may wait for a reader that reads nothing; then the response is cut. Default 60 s. */
  readonly stalledReaderTimeoutMs?: number;
  /**
   * How long an HTTP/1.1 caller that has closed its sending side still gets answers; then it counts as disconnected.
   * Default 500 ms. A caller that has closed both sides looks the same until the server writes to it.
   */
  readonly halfCloseTimeoutMs?: number;
  /** Limit of a request's header fields in bytes; beyond it 431. Default 32 KiB; HTTP/2 resets a stream over 64 KiB. */
  readonly maxHeaderBytes?: number;
  /**
   * Connections that the system keeps until the process accepts them. It drops further ones, and their callers try
   * again a second later or more. Default 4,096; the system may allow fewer (`net.core.somaxconn`). Must be a whole
   * number.
   */
  readonly maxPendingConnections?: number;
  /**
   * Open connections, 7/8 of them of one address. The server closes a further one at once, and tells `onWarning` once. Of the calls
   * that trusted proxies pass on, one caller may have as many open as 7/8 of the connections of one address; more are answered with
   * 429. Default 8,192; on Linux as many as leave the process 128 of the files that it may open, if that is less.
   */
  readonly maxConnections?: number;
  /** Open streams on one HTTP/2 connection. Default 4,096: a subscription needs one as long as it lives. */
  readonly maxStreamsPerConnection?: number;
  /**
   * Open streams on all HTTP/2 connections, 7/8 of them of one address. Further ones are refused so that callers may send them again at
   * once; a connection of which a thousand were refused is told to stop. A stream with a large header counts once for each 4 KiB of it,
   * also before it is complete. Requests of HTTP/1.1 that are sent before the one before is answered count as well; a connection that
   * brings more of them is closed. Of any other request of HTTP/1.1, each further 4 KiB of header and URL counts, also before the header
   * is complete; where there is no place for them, it is answered with 429. Default 16,384.
   */
  readonly maxStreams?: number;
  /**
   * Stored bytes of all answers that callers have not read, of all ports and mounts of the process with the same limits for memory
   * (this one and the next two). The server refuses a further answer with
   * CAPACITY until callers have read some, or they were cut. An eighth more, of all addresses together, is for answers up to 64 KiB. Default 256 MiB.
   *
   * The same limit holds for what waits in the buffers of connections and streams, small answers included. Beyond it the server
   * cuts answers off: of the address that has most, those that have waited longest.
   */
  readonly maxUnreadBytes?: number;
  /**
   * Memory of the request bodies of one connection together, in bytes; a body counts from its first byte until a
   * message was made of it. Beyond the limit the largest is refused (CAPACITY). The connection of a trusted proxy has so much for
   * each caller that the proxy tells. Default 64 MiB.
   */
  readonly maxBodyBytesPerConnection?: number;
  /**
   * The same for all connections, of all ports and mounts of the process with the same limits for memory. Beyond it the largest
   * body of the address that holds most is refused. Default 256 MiB.
   */
  readonly maxTotalBodyBytes?: number;
  /** Gets what the handler or a response body threw, for the operator's log. Must not throw. Default: not logged. */
  readonly onError?: (error: unknown, request: HttpRequest) => void;
  /**
   * Gets each reason for which a trusted proxy's fields did not count, and that there were too many connections, once, and of each fault
   * that cuts a connection or a call one sentence in a minute. Must not throw. Default: not logged.
   */
  readonly onWarning?: (message: string) => void;
}

/** Every limit with its default. */
export type ListenLimits = Required<
  Omit<ListenOptions, "port" | "host" | "tls" | "trustedProxies" | "onError" | "onWarning">
>;

/** Files that a process needs besides its connections, such as databases and connections to others. */
const ownFiles = 128;

/** How many files Linux lets this process open; infinite where the system does not tell. */
function openFileLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** A body of the longest message comes through with any heap: its bytes are not there. */
const longestBody = 24 * 2 ** 20;

/** The defaults in the comments of ListenOptions. */
export const defaultLimits: ListenLimits = {
  firstByteTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 65_000,
  idleSessionTimeoutMs: 300_000,
  pingIntervalMs: 30_000,
  pingTimeoutMs: 20_000,
  stalledReaderTimeoutMs: 60_000,
  halfCloseTimeoutMs: 500,
  maxHeaderBytes: 32 * 1024,
  maxPendingConnections: 4_096,
  maxConnections: Math.min(scaleToHeap(8_192), Math.max(ownFiles, openFileLimit() - ownFiles)),
  maxStreamsPerConnection: scaleToHeap(4_096),
  maxStreams: scaleToHeap(16_384),
  maxUnreadBytes: scaleToHeap(256 * 2 ** 20),
  maxBodyBytesPerConnection: Math.max(longestBody, scaleToHeap(64 * 2 ** 20)),
  maxTotalBodyBytes: Math.max(2 * longestBody, scaleToHeap(256 * 2 ** 20)),
};

/** How a port closes. */
export interface CloseOptions {
  /** How long running requests may go on; then their signals abort. Default 5 s. */
  readonly graceMs?: number;
  /** When the remaining connections are cut, counted from the call of `close`. Default 10 s. */
  readonly timeoutMs?: number;
}
