import type { Interceptor, Transport } from "@connectrpc/connect";
import type { Exchange } from "./exchange.ts";

/** The wires that scenarios can speak. */
export const wires = ["grpc", "grpc-web", "connect", "jsonrpc", "http-json"] as const;

/** The name of a wire. */
export type Wire = (typeof wires)[number];

/** How the certificates of servers are verified. */
export interface TlsSettings {
  /** Default true. */
  readonly rejectUnauthorized?: boolean;
}

/** What scenarios need beside `fetch`: Node has all of it, a browser some. */
export interface Platform {
  /** The wires that it can speak. */
  readonly wires: readonly Wire[];
  /** Gets ready to open wires for the scenarios of one server. */
  connect(how: { readonly tls: TlsSettings; readonly fetch: typeof globalThis.fetch }): RpcConnections;
  /**
   * A gRPC call with bytes of our own over HTTP/2 with prior knowledge.
   *
   * @throws Error when the server breaks it off, or sends too much
   * @throws NotApplicable where the platform has no HTTP/2 of its own
   */
  postGrpc(call: RawGrpcCall): Promise<GrpcAnswer>;
  /**
   * Sends JSON with fields that may come several times, and returns the fields of the answer.
   *
   * @throws NotApplicable where the platform joins such fields
   */
  postFields(url: string, fields: Fields, body: string): Promise<Fields>;
}

/** The wires of one server that do not go through `fetch` everywhere. Dispose of them to close their connections. */
export interface RpcConnections extends Disposable {
  open(wire: "grpc" | "grpc-web" | "connect", options: RpcConnectionOptions): Transport;
}

export interface RpcConnectionOptions {
  readonly baseUrl: string;
  /** The first one outermost. */
  readonly interceptors: Interceptor[];
  /** Longest answer, or message of a stream. */
  readonly maxBytes: number;
}

/** A gRPC call with bytes of our own. */
export interface RawGrpcCall {
  /** The server, as a URL. */
  readonly address: string;
  readonly path: string;
  /** The request, without its frame. */
  readonly message: Uint8Array;
  readonly fields: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
  readonly signal: AbortSignal | undefined;
  /** Gets what is said, before it is. */
  record(exchange: Exchange): void;
}

/** Fields of HTTP by their names in small letters. */
export type Fields = Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** An answer of the gRPC wire as it came. */
export interface GrpcAnswer {
  /** The code that it ends with: `NOT_FOUND (5)`. */
  readonly status: string;
  readonly headers: Fields;
  /** The messages, without their frames. */
  readonly messages: readonly Uint8Array[];
  /** What came after the messages, or with the headers where there are no messages; empty when neither has a status. */
  readonly trailers: Fields;
}
