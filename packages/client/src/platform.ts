import type { WireFetch } from "@a2a-connect/bindings/client";
import type { Interceptor, Transport } from "@connectrpc/connect";

/** What a runtime adds to web standards. Node's is in `@a2a-connect/node/client`. */
export interface ClientPlatform {
  /** Further wires, such as gRPC; they take precedence over the built-in ones of the same binding. */
  readonly transports?: readonly BindingTransport[];
  /** The platform's own `fetch`, where it differs from the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** A `fetch` that refuses addresses which are not public, for addresses that agents name (`untrusted: true`). */
  readonly guardedFetch?: typeof globalThis.fetch;
  /**
   * What long work on an answer waits for, so that many large ones, or many followers of one task, keep nothing else waiting;
   * undefined: nothing. Default: nothing. It never rejects.
   *
   * @param agent whose answer it is: its origin, or the URL of its interface; agents take turns
   */
  readonly turn?: (agent: string) => Promise<void> | undefined;
  /** Writes a file without overwriting any; see `SaveFile`. */
  readonly saveFile?: SaveFile;
  /** Releases its resources, such as idle connections. Called when the client is closed, or could not be made. */
  readonly close?: () => Promise<void>;
}

/**
 * Writes content under `directory`, by the last segment of `name` alone. It drops directories in the name, replaces
 * characters that a file name may not have, and never overwrites a file: it adds a number instead.
 *
 * @returns the path that was written
 */
export type SaveFile = (
  directory: string,
  name: string,
  content: AsyncIterable<Uint8Array> | Uint8Array,
) => Promise<string>;

/** The client end of one binding: it makes a Connect transport for an interface of the card. */
export interface BindingTransport {
  /** The value of `AgentInterface.protocolBinding`: `JSONRPC`, `GRPC`, `HTTP+JSON` or a URI. */
  readonly binding: string;
  /** Versions of A2A that it speaks, `Major.Minor`. Default 1.0 and the draft of 1.1. */
  readonly versions?: readonly string[];
  /** @throws Error with a sentence when this wire cannot call `settings.url` */
  open(settings: BindingTransportSettings): OpenTransport;
}

/** What is needed to open a transport. */
export interface BindingTransportSettings {
  /** The interface's URL, as the card has it. */
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  /** Makes the requests of the JSON wires in place of `fetch`, where a platform can do that for less. */
  readonly exchange?: WireExchange;
  /** The first one outermost. */
  readonly interceptors: readonly Interceptor[];
  /** Longest response, or message of a stream, in bytes after decompression. */
  readonly maxResponseBytes: number;
  /** Time limit for connecting, if a wire can enforce one. */
  readonly connectTimeoutMs: number;
}

/** How the requests of one open transport are made. */
export interface WireExchange {
  /** It does not follow redirects. */
  readonly fetch: WireFetch;
  /** Ends all running requests. */
  close(): void;
}

/** The reason with which a call is aborted after its connection was silent for too long. */
export class SilenceError extends Error {}

/** A transport that must be closed. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Ends its connections; running calls fail. */
  close(): void;
}
