import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import { responseTooLarge } from "@a2a-connect/bindings/client";
import { ByteBuffer } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { InterimAnswers } from "../network/interim-answers.ts";
import { chunkBytes, maxWaitingBytes, type ResponseTurn } from "./connections.ts";

/** Flags (1 byte) and length (4 bytes) before each message. */
const prefixBytes = 5;

/** How a response begins. */
export interface GrpcHead {
  readonly status: number;
  readonly header: Headers;
}

/** A message as it came. */
export interface GrpcEnvelope {
  readonly flags: number;
  readonly bytes: Uint8Array;
}

/** How a call is made. */
export interface GrpcCallOptions {
  readonly signal: AbortSignal;
  /** Longest message of the response. */
  readonly maxBytes: number;
  readonly nextTurn: ResponseTurn;
}

/** One call on an HTTP/2 stream: the bytes of the messages of its response, and its trailers. */
export class GrpcCall {
  /** Filled at the end of the response. */
  readonly trailer: Headers = new Headers();
  readonly #stream: ClientHttp2Stream;
  readonly #signal: AbortSignal;
  readonly #maxBytes: number;
  readonly #nextTurn: ResponseTurn;
  readonly #head: PromiseWithResolvers<GrpcHead> = Promise.withResolvers();
  #hasBegun = false;
  readonly #chunks: Uint8Array[] = [];
  #waiting = 0;
  /** The beginning of a message whose end has not arrived; `#missing` says how many bytes are still to come. */
  readonly #partial = new ByteBuffer();
  #arrival: PromiseWithResolvers<void> | undefined;
  /** Set when nothing more comes. */
  #end: { readonly error?: unknown } | undefined;

  /** Sends the request, of one message. */
  constructor(
    stream: ClientHttp2Stream,
    message: Uint8Array,
    { signal, maxBytes, nextTurn }: GrpcCallOptions,
  ) {
    this.#stream = stream;
    this.#signal = signal;
    this.#maxBytes = maxBytes;
    this.#nextTurn = nextTurn;
    this.#head.promise.catch(() => {}); // who reads the response is told, too
    stream.on("response", (fields, flags) => {
      this.#hasBegun = true;
      this.#head.resolve({ status: fields[":status"] ?? 0, header: addFields(new Headers(), fields) });
      if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#finish({});
    });
    const interim = new InterimAnswers();
    stream.on("headers", (fields) => {
      const refusal = interim.refuse(fields);
      if (refusal !== undefined) this.#break(refusal);
    });
    stream.on("data", this.#push);
    stream.on("trailers", (fields) => this.#complete(fields));
    stream.on("end", () => this.#finish({}));
    stream.on("error", (error) => this.#finish({ error }));
    stream.on("close", () => {
      if (this.#end === undefined) this.#finish({ error: this.#closed() });
    });
    if (signal.aborted) {
      this.#abort();
    } else {
      signal.addEventListener("abort", this.#abort, { once: true });
    }
    stream.end(encodeEnvelope(0, message));
  }

  /** How the response begins. Rejects when it does not come. */
  get head(): Promise<GrpcHead> {
    return this.#head.promise;
  }

  /** The next message, when the whole of it has arrived. @throws ConnectError ResourceExhausted when it is too long */
  takeReady(): GrpcEnvelope | undefined {
    const whole = this.#partial.length === 0 ? this.#takeWhole() : undefined;
    if (whole !== undefined) {
      return whole;
    }
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      const missing = this.#missing();
      const piece = chunk.subarray(0, missing);
      this.#partial.append(piece);
      this.#drop(piece.byteLength);
      if (this.#missing() === 0) {
        const [flags = 0] = this.#partial.peek();
        return { flags, bytes: this.#partial.take().subarray(prefixBytes) };
      }
    }
    return undefined;
  }

  /**
   * Waits for more of the response.
   *
   * @returns whether there may be more
   * @throws the error with which the stream failed, or Unavailable when it ended within a message
   */
  async more(): Promise<boolean> {
    if (this.#end === undefined) {
      this.#arrival = Promise.withResolvers();
      await this.#arrival.promise;
      this.#arrival = undefined;
    }
    if (this.#chunks.length > 0) {
      const turn = this.#nextTurn();
      if (turn !== undefined) await turn;
      return true;
    }
    if (this.#end === undefined) {
      return true;
    }
    if ("error" in this.#end) {
      throw this.#end.error;
    }
    if (this.#partial.length > 0) {
      throw cutOff();
    }
    return false;
  }

  /** The rest of the response is not needed. */
  cancel(): void {
    this.#finish({});
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** A message that lies within the first chunk, which is nearly always so, is copied once. */
  #takeWhole(): GrpcEnvelope | undefined {
    const [chunk] = this.#chunks;
    if (chunk === undefined || chunk.byteLength < prefixBytes) {
      return undefined;
    }
    const length = this.#lengthIn(chunk);
    if (chunk.byteLength < prefixBytes + length) {
      return undefined;
    }
    const bytes = new Uint8Array(chunk.subarray(prefixBytes, prefixBytes + length)); // no Buffer, for callers
    const [flags = 0] = chunk;
    this.#drop(prefixBytes + length);
    return { flags, bytes };
  }

  /** How many bytes of the partial message have not arrived, as far as is known. */
  #missing(): number {
    const { length } = this.#partial;
    return length < prefixBytes
      ? prefixBytes - length
      : prefixBytes + this.#lengthIn(this.#partial.peek()) - length;
  }

  #lengthIn(bytes: Uint8Array): number {
    const [, a = 0, b = 0, c = 0, d = 0] = bytes;
    const length = a * 2 ** 24 + (b << 16) + (c << 8) + d;
    if (length > this.#maxBytes) {
      throw responseTooLarge(this.#maxBytes);
    }
    return length;
  }

  #drop(count: number): void {
    const [chunk] = this.#chunks;
    if (chunk === undefined || chunk.byteLength <= count) {
      this.#chunks.shift();
      this.#waiting -= chunkBytes;
    } else {
      this.#chunks[0] = chunk.subarray(count);
    }
    this.#waiting -= count;
    if (this.#waiting < maxWaitingBytes && this.#stream.isPaused()) {
      this.#stream.resume();
    }
  }

  readonly #push = (chunk: Uint8Array): void => {
    if (this.#end !== undefined) {
      return;
    }
    this.#chunks.push(chunk);
    this.#waiting += chunk.byteLength + chunkBytes;
    if (this.#waiting >= maxWaitingBytes) {
      this.#stream.pause();
    }
    this.#arrival?.resolve();
  };

  /** All of the response has arrived. Node would drop what of it waits in a paused stream when the connection closes. */
  #complete(trailer: IncomingHttpHeaders): void {
    addFields(this.trailer, trailer);
    const rest: Uint8Array | null = this.#stream.off("data", this.#push).pause().read(); // in one piece
    if (rest !== null) this.#push(rest);
    this.#finish({});
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end === undefined) {
      this.#end = end;
      this.#signal.removeEventListener("abort", this.#abort);
      if (!this.#hasBegun) this.#head.reject("error" in end ? end.error : cutOff());
      this.#arrival?.resolve();
    }
  }

  #break(cause: Error): void {
    this.#finish({ error: cutOff(cause) });
    this.#stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** Why a stream was closed that neither ended nor failed: it was reset. */
  #closed(): ConnectError {
    const { rstCode = 0 } = this.#stream;
    return cutOff(new Error(`the stream was closed with the HTTP/2 error code ${rstCode}`));
  }

  readonly #abort = (): void => {
    this.#finish({ error: this.#signal.reason });
    this.#stream.close(constants.NGHTTP2_CANCEL);
  };
}

function cutOff(cause?: unknown): ConnectError {
  return new ConnectError("the response was cut off", Code.Unavailable, undefined, undefined, cause);
}

function addFields(header: Headers, fields: IncomingHttpHeaders): Headers {
  for (const name in fields) {
    const value = fields[name];
    if (name.startsWith(":") || value === undefined) {
      continue;
    }
    if (typeof value === "string") {
      header.append(name, value);
    } else {
      for (const each of value) {
        header.append(name, each);
      }
    }
  }
  return header;
}
