import type { Interceptor, Transport } from "@connectrpc/connect";

/** What a runtime adds to web standards. Node's is in `@a2a-connect/node/client`. */
export interface ClientPlatform {
  /** Further wires, such as gRPC; they win over the built-in ones of the same binding. */
  readonly transports?: readonly BindingTransport[];
  /** The platform's own `fetch`, where it differs from the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** A `fetch` that refuses addresses which are not public, for what others name (`untrusted: true`). */
  readonly guardedFetch?: typeof globalThis.fetch;
  /** Writes a file and never over one; see `SaveFile`. */
  readonly saveFile?: SaveFile;
  /** Lets go of what it holds, such as idle connections; called when the client is closed, or did not come to be. */
  readonly close?: () => Promise<void>;
}

/**
 * Writes content under `directory`, by the last segment of `name` alone (directories in it are dropped, what no file may
 * be called is replaced) and never over a file that is there: a number is added instead.
 *
 * @returns the path that was written
 */
export type SaveFile = (
  directory: string,
  name: string,
  content: AsyncIterable<Uint8Array> | Uint8Array,
) => Promise<string>;

/** The client end of one binding: how the interface of a card becomes a Connect transport. */
export interface BindingTransport {
  /** As in `AgentInterface.protocolBinding`: `JSONRPC`, `GRPC`, `HTTP+JSON` or a URI. */
  readonly binding: string;
  /** @throws Error with a sentence when `settings.url` is none that this wire can call */
  open(settings: BindingTransportSettings): OpenTransport;
}

/** What a transport is opened with. */
export interface BindingTransportSettings {
  /** The interface's URL, as the card has it. */
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  /** First one outermost. */
  readonly interceptors: readonly Interceptor[];
  /** Longest response, or message of a stream, in bytes after decompression. */
  readonly maxResponseBytes: number;
  /** How long connecting may take, where a wire can tell. */
  readonly connectTimeoutMs: number;
}

/** The reason with which a call is aborted because nothing was heard on its connection for too long. */
export class SilenceError extends Error {}

/** A transport that somebody has to close. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Ends its connections; calls in flight fail. */
  close(): void;
}
