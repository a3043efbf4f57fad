import type { ChunkedBody } from "@a2a-connect/core/internal";

/** The part of `fetch` that the JSON wires need. A platform may have one of its own that does no more. */
export type WireFetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<WireResponse>;

/** What a wire reads of a `Response`. */
export interface WireResponse extends Pick<Response, "headers" | "ok" | "status" | "type"> {
  readonly body: WireBody | null;
}

/** The body of a response: a `ReadableStream` has all of it. To stop reading early closes the connection. */
export interface WireBody extends ChunkedBody {
  getReader(): WireReader;
  cancel(): Promise<void>;
}

/** The one reader of a body. */
export interface WireReader extends ReturnType<ChunkedBody["getReader"]> {
  /** The next chunk when it has arrived already; undefined when there is none, or the reader cannot tell. */
  takeReady?(): Uint8Array | undefined;
}
