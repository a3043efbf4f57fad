import { pipeline, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { WireBody, WireFetch, WireReader, WireResponse } from "@a2a-connect/bindings/client";
import { joinBytes, type Wakes } from "@a2a-connect/core/internal";
import type { Dispatcher } from "undici";
import type { Connections } from "../network/guarded-fetch.ts";
import { chunkBytes, maxWaitingBytes, type ResponseTurn, responseTurns } from "./connections.ts";

/** What this needs of connections. */
type NodeConnections = Pick<Connections, "dispatcher" | "fetch">;

/** How requests are made on the connections of a client. */
export interface NodeExchange {
  readonly fetch: WireFetch;
  /** Ends all requests that were made by `fetch`. */
  close(): void;
}

/** The names under which servers may compress, as `fetch` sends them. */
const acceptedCodings = "gzip, deflate, br";

/**
 * Makes requests as `fetch` with `redirect: "manual"` does, for wires that need nothing else of it: no Request and no
 * ReadableStream, which cost more than the request itself. A URL that `fetch` would not call is not called.
 */
export function createNodeExchange(
  open: () => Promise<NodeConnections>,
  turns: Pick<Wakes, "turn"> = responseTurns,
): NodeExchange {
  const running = new Set<RunningRequest>();
  const permitted = new Set<string>();
  let connections: NodeConnections | undefined;
  let isClosed = false;
  /** The URL of the last request, which is often that of the next one, so that it is parsed once. */
  let lastTarget = { href: "", origin: "", path: "" };
  return {
    async fetch(input, init = {}) {
      if (lastTarget.href !== input) {
        const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input);
        lastTarget = { href: String(input), origin, path: pathname + search };
      }
      const { href, origin, path } = lastTarget;
      connections ??= await open();
      if (!permitted.has(origin)) {
        await requireCallable(href, connections);
        permitted.add(origin);
      }
      if (isClosed) {
        throw new Error("the client was closed");
      }
      init.signal?.throwIfAborted();
      const sent = new RunningRequest(
        init.signal ?? undefined,
        () => turns.turn(origin),
        () => running.delete(sent),
      );
      running.add(sent);
      const { method = "GET", headers, body } = init;
      const request = {
        origin,
        path,
        method: method as Dispatcher.HttpMethod, // any method of HTTP
        headers: { "accept-encoding": acceptedCodings, "user-agent": "a2a-connect", ...(headers as object) },
        body: (body ?? null) as Uint8Array | string | null, // the JSON wires send nothing else
      };
      connections.dispatcher.dispatch(request, sent);
      return sent.response;
    },
    close() {
      isClosed = true;
      for (const sent of running) {
        sent.abort(new Error("the client was closed"));
      }
    },
  };
}

/**
 * Asks `fetch` whether it would call a URL: it refuses credentials in it, and ports of other protocols.
 *
 * @throws TypeError why not
 */
async function requireCallable(url: string, { fetch }: NodeConnections): Promise<void> {
  const unsent = new Error("not sent");
  const unconnected = {
    dispatch() {
      throw unsent;
    },
  };
  try {
    await fetch(url, { dispatcher: unconnected as unknown as Dispatcher }); // it calls nothing else
  } catch (error) {
    if (!(error instanceof Error && error.cause === unsent)) {
      throw error;
    }
  }
}

/** One request and its response. */
class RunningRequest implements Dispatcher.DispatchHandler {
  readonly response: Promise<WireResponse>;
  readonly #respond: PromiseWithResolvers<WireResponse>;
  readonly #signal: AbortSignal | undefined;
  readonly #turn: ResponseTurn;
  readonly #onEnd: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: Body | undefined;
  #codings: readonly string[] = [];
  /** What one packet has brought of the body until now. */
  #arrived: Uint8Array[] = [];
  #decoder: Decoder | undefined;
  /** What waits for the decoder. */
  #encoded = 0;
  #reason: unknown;
  #isAborted = false;

  constructor(signal: AbortSignal | undefined, turn: ResponseTurn, onEnd: () => void) {
    this.#respond = Promise.withResolvers();
    this.response = this.#respond.promise;
    this.#signal = signal;
    this.#turn = turn;
    this.#onEnd = onEnd;
    signal?.addEventListener("abort", this.#follow, { once: true });
  }

  /** Ends the request; what is not yet there rejects with the reason. */
  abort(reason: unknown): void {
    if (!this.#isAborted) {
      this.#isAborted = true;
      this.#reason = reason;
      this.#controller?.abort(reason instanceof Error ? reason : new Error(String(reason)));
      this.#fail(reason);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isAborted) {
      controller.abort(this.#reason instanceof Error ? this.#reason : new Error(String(this.#reason)));
    }
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    fields: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) {
      return; // an interim answer
    }
    const headers = new Headers();
    for (const name in fields) {
      for (const value of [fields[name] ?? []].flat()) {
        headers.append(name, value);
      }
    }
    this.#codings = contentCodings(headers.get("content-encoding"));
    this.#body = new Body(
      this.#turn,
      () => (this.#decoder?.last ?? controller).pause(), // a decoder that is full pauses the connection
      () => (this.#decoder?.last ?? controller).resume(),
      () => this.abort(new Error("the rest of the response is not needed")),
    );
    const ok = status >= 200 && status < 300;
    this.#respond.resolve({ status, ok, type: "default", headers, body: this.#body });
  }

  /**
   * A packet may bring thousands of chunks. They are joined, and the connection is paused only behind the last of them: where it is
   * paused within a packet, undici gives the rest back to the socket, which has read the next packet before it asks again. So with each
   * pause more would wait there.
   */
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#arrived.push(chunk) === 1) {
      queueMicrotask(() => {
        try {
          this.#receive();
        } catch (error) {
          this.abort(error); // no memory for a decoder
        }
      });
    }
  }

  onResponseEnd(): void {
    this.#release();
    this.#receive();
    if (this.#decoder === undefined) {
      this.#body?.end();
    } else {
      this.#decoder.first.end();
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(this.#isAborted ? this.#reason : error);
  }

  /** Takes what has arrived. */
  #receive(): void {
    const arrived = this.#arrived;
    this.#arrived = [];
    const pieces = joinChunks(arrived);
    if (this.#codings.length === 0) {
      this.#body?.push(pieces);
      return;
    }
    for (const piece of pieces) {
      const cost = piece.byteLength + chunkBytes;
      this.#encoded += cost;
      this.#decoder ??= this.#decode();
      this.#decoder.first.write(piece, () => {
        this.#encoded -= cost;
        if (this.#encoded < maxWaitingBytes) this.#controller?.resume();
      });
    }
    if (this.#encoded >= maxWaitingBytes) this.#controller?.pause();
  }

  /** What comes out of the decoder is the body. */
  #decode(): Decoder {
    const decoder = createDecoder(this.#codings);
    decoder.last.on("data", (chunk: Uint8Array) => this.#body?.push([chunk]));
    decoder.last.on("end", () => this.#body?.end());
    decoder.onError((error) => this.abort(error));
    return decoder;
  }

  #fail(error: unknown): void {
    this.#release();
    this.#receive();
    this.#respond.reject(error);
    this.#body?.fail(error);
    this.#decoder?.first.destroy();
  }

  #release(): void {
    this.#signal?.removeEventListener("abort", this.#follow);
    this.#onEnd();
  }

  readonly #follow = (): void => this.abort(this.#signal?.reason);
}

/** Short chunks that are read as one piece, in bytes. */
const pieceBytes = 16 * 1024;

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let [from, bytes] = [0, 0];
  for (const [at, { byteLength }] of chunks.entries()) {
    if (at > from && bytes + byteLength > pieceBytes) {
      pieces.push(joinBytes(chunks.slice(from, at)));
      [from, bytes] = [at, 0];
    }
    bytes += byteLength;
  }
  if (from < chunks.length) {
    pieces.push(joinBytes(chunks.slice(from)));
  }
  return pieces;
}

type Reading = ReturnType<WireReader["read"]>;

/** A body that arrives piece by piece. It has one reader. */
class Body implements WireBody, WireReader {
  readonly #nextTurn: ResponseTurn;
  readonly #pause: () => void;
  readonly #resume: () => void;
  readonly #leave: () => void;
  readonly #chunks: Uint8Array[] = [];
  #waiting = 0;
  /** The next piece has arrived, and waits for this. */
  #turn: Promise<void> | undefined;
  #reading: PromiseWithResolvers<Awaited<Reading>> | undefined;
  /** Set when nothing more comes. */
  #end: { readonly error?: unknown } | undefined;

  constructor(nextTurn: ResponseTurn, pause: () => void, resume: () => void, leave: () => void) {
    this.#nextTurn = nextTurn;
    this.#pause = pause;
    this.#resume = resume;
    this.#leave = leave;
  }

  getReader(): this {
    return this;
  }

  takeReady(): Uint8Array | undefined {
    if (this.#chunks.length === 0 || this.#turn !== undefined) {
      return undefined;
    }
    this.#turn = this.#nextTurn();
    return this.#turn === undefined ? this.#take() : undefined;
  }

  read(): Reading {
    const reading = Promise.withResolvers<Awaited<Reading>>();
    this.#reading = reading;
    if (this.#chunks.length > 0 || this.#end !== undefined) {
      this.#answer();
    }
    return reading.promise;
  }

  async cancel(): Promise<void> {
    if (this.#end === undefined) {
      this.#end = {};
      this.#leave();
    }
  }

  push(values: readonly Uint8Array[]): void {
    if (this.#end !== undefined || values.length === 0) {
      return;
    }
    for (const value of values) {
      this.#chunks.push(value);
      this.#waiting += value.byteLength + chunkBytes;
    }
    if (this.#waiting >= maxWaitingBytes) {
      this.#pause();
    }
    this.#answer();
  }

  end(): void {
    this.#end ??= {};
    this.#answer();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#answer();
  }

  /** Gives the reader that waits what has come, in a turn: with the end, too, because then the whole of a body may be parsed. */
  #answer(): void {
    const reading = this.#reading;
    if (reading === undefined) {
      return;
    }
    this.#reading = undefined;
    this.#turn ??= this.#nextTurn();
    reading.resolve(this.#turn === undefined ? this.#next() : this.#turn.then(() => this.#next()));
  }

  async #next(): Reading {
    this.#turn = undefined;
    if (this.#chunks.length > 0) {
      return { done: false, value: this.#take() };
    }
    if (this.#end !== undefined && "error" in this.#end) {
      throw this.#end.error;
    }
    return { done: true };
  }

  #take(): Uint8Array {
    const value = this.#chunks.shift() as Uint8Array; // it is called when there is one
    this.#waiting -= value.byteLength + chunkBytes;
    if (this.#waiting < maxWaitingBytes) {
      this.#resume();
    }
    return value;
  }
}

/** Decompression: bytes go into the first stream and come out of the last. */
interface Decoder {
  readonly first: Transform;
  readonly last: Transform;
  onError(listener: (error: Error) => void): void;
}

/** `fetch` reads no more than this of `Content-Encoding`, either. */
const maxCodings = 5;

/** The codings of a body, the last applied first; none when one of them is unknown, as `fetch` does it. */
function contentCodings(field: string | null): readonly string[] {
  const codings = (field ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  return codings.every((coding) => coding in decoders) && codings.length <= maxCodings
    ? codings.reverse()
    : [];
}

/** They give out what has arrived, and take a body that is cut off after a flush. */
const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(flush),
  "x-gzip": () => createGunzip(flush),
  deflate: () => createInflate(flush),
  br: () =>
    createBrotliDecompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      finishFlush: constants.BROTLI_OPERATION_FLUSH,
    }),
};

function createDecoder(codings: readonly string[]): Decoder {
  const streams = codings.map((coding) => decoders[coding]?.() as Transform); // contentCodings gives only these
  const [first, last] = [streams[0], streams.at(-1)] as [Transform, Transform]; // at least one
  return {
    first,
    last,
    onError(listener) {
      if (first === last) {
        first.on("error", listener);
      } else {
        pipeline(streams, (error) => {
          if (error) listener(error);
        });
      }
    },
  };
}
