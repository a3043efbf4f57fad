import type { Readable } from "node:stream";
import type { HttpBody } from "@a2a-connect/bindings";
import { type BodyTurn, shortBodyBytes } from "@a2a-connect/bindings/server";
import { bodyTooLarge } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { BudgetedBody } from "./callers/body-budget.ts";
import type { CallerConnection } from "./callers/callers.ts";

/** What is known about a request body before its first byte. */
export interface RequestBodyOptions {
  /** From `content-length`; 0 when the request has no body; undefined when only its end tells. */
  readonly declaredLength: number | undefined;
  /** Time limit for all bytes, in milliseconds. Unlimited when absent. */
  readonly timeoutMs?: number | undefined;
  /** Its caller's: counts its bytes and pieces, whether they are wanted or not. */
  readonly connection: CallerConnection;
  /** Ends the stream or connection of a caller that sends on and on what is not wanted. */
  readonly cut: () => void;
  /** Whether no other code has its chunks, nor the memory behind them. Default: other code may. */
  readonly ownsChunks?: boolean | undefined;
}

/** How much of a refused body is read and thrown away, and for how long, before the caller is cut off. */
const maxDiscardedBytes = 64 * 1024 * 1024;
const maxDiscardMs = 10_000;

/** To free less takes longer than a garbage collector needs for it. */
const minFreedBytes = 4 * 1024;

const nothing = new Uint8Array();

interface Waiting<T> {
  resolve(value: T): void;
  reject(reason: ConnectError): void;
}

/**
 * A request body over Node's stream. It is read as it arrives, even if no code asks for it: otherwise HTTP/2 would hold
 * up to a window for each unread stream, and those bytes would not be counted. All bytes that it holds count towards
 * the budget.
 *
 * A body that is not wanted any more (refused, too large, or left half-read) is read on and thrown away, within bounds.
 * To cut it off at once would be simpler, but a caller that is still sending then often loses the response with the
 * reason.
 *
 * A body that is read as a whole goes through these states; `refuse` may end each of them.
 *
 * | it | waits for | and then |
 * | --- | --- | --- |
 * | arrives | its end, and `turnAfterShortBody` when it is short | `bytes` hands it over |
 * | is handed over | `turnBeforeMessage`, which `bindings/src/body.ts` asks for when it is not short | a message is made of it |
 * | was made into a message | – | `release` frees what it has left; `serveExchange` does it for a handler that did not |
 */
export class RequestBody implements HttpBody, BudgetedBody {
  /** Bytes that count towards the budget. */
  held = 0;
  readonly #source: Readable;
  readonly #options: RequestBodyOptions;
  /** The bytes that have arrived, with room after them for further ones. */
  #bytes: Uint8Array = nothing;
  #size = 0;
  /** Whether the memory behind `#bytes` contains nothing else. */
  #ownsBytes = false;
  /** What the caller of `bytes` has, where the memory behind it contains nothing else; until it is freed, or `release`. */
  #handedOver: Uint8Array | undefined;
  /** Whether it is read as it arrives, and not as a whole. */
  #isIterated = false;
  #ended = false;
  #failure: ConnectError | undefined;
  /** Undefined: the body is still wanted. */
  #discarded: number | undefined;
  #maxBytes: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #whole: Waiting<Uint8Array> | undefined;
  #change: Waiting<void> | undefined;
  #messageWaiter: (Pick<Waiting<void>, "reject"> & { leave(): void }) | undefined;
  #messageTurn: BodyTurn | undefined;

  constructor(source: Readable, options: RequestBodyOptions) {
    this.#source = source;
    this.#options = options;
    // A body without bytes may have ended before a mount got its request, and says so once.
    if (options.declaredLength === 0 || source.readableEnded) {
      this.#ended = true;
    } else {
      source
        .on("data", (chunk: Buffer) => this.#take(chunk))
        .on("end", () => this.#end())
        .on("error", () => undefined) // "close" follows
        .on("close", () => void this.#cutShort());
    }
  }

  get isRead(): boolean {
    return this.#whole !== undefined || this.#isIterated;
  }

  /**
   * @throws ConnectError also when the body is cut short, takes too long, or is refused to make room for others
   *   (CAPACITY)
   */
  bytes(maxBytes: number): Promise<Uint8Array> {
    const { declaredLength = 0, timeoutMs } = this.#options;
    if (declaredLength > maxBytes || this.#size > maxBytes) this.refuse(bodyTooLarge(maxBytes));
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#ended) return Promise.resolve(this.#handOver());
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.#whole = { resolve, reject };
    this.#maxBytes = maxBytes;
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => this.refuse(bodyTooSlow(timeoutMs)), timeoutMs).unref();
    }
    return promise;
  }

  turnBeforeMessage(length: number, _callerNetwork?: string, unpackedBytes = 0): Promise<void> {
    const { connection } = this.#options;
    if (this.#failure === undefined) {
      connection.bodies.allowRefusal(this);
      if (unpackedBytes > 0) this.#count(unpackedBytes);
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = connection.askTurnBeforeMessage(length, (granted) => {
      this.#messageWaiter = undefined;
      this.#messageTurn = granted;
      connection.bodies.forbidRefusal(this);
      resolve();
    });
    if (this.#messageTurn === undefined) this.#messageWaiter = { leave, reject };
    return promise;
  }

  freeBytes(): void {
    if (this.#handedOver !== undefined) freeNow(this.#handedOver);
    this.#handedOver = undefined;
  }

  release(): Promise<void> | undefined {
    this.#handedOver = undefined; // an idle connection keeps its last request
    if (!this.#isIterated) this.#letGo();
    this.#messageWaiter?.leave();
    this.#messageWaiter = undefined;
    const turn = this.#messageTurn;
    this.#messageTurn = undefined;
    return turn?.leave();
  }

  /**
   * The body is not wanted any more. Does nothing after the body was given up, or a message was made of it. Where one is being made, that
   * goes on, and has its turn until `release`.
   */
  refuse(reason: ConnectError): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    this.discard();
    this.#whole?.reject(reason);
    this.#messageWaiter?.leave();
    this.#messageWaiter?.reject(reason);
    this.#messageWaiter = undefined;
    this.#change?.resolve();
  }

  /** The rest is not wanted. */
  discard(): void {
    if (this.#discarded !== undefined) return;
    this.#discarded = 0;
    this.#letGo();
    const { declaredLength, cut } = this.#options;
    const source = this.#source;
    if (source.readableEnded || source.destroyed) return;
    if (declaredLength === 0) {
      source.resume();
      return;
    }
    const timer = setTimeout(cut, maxDiscardMs).unref();
    const stop = (): void => clearTimeout(timer);
    source.once("end", stop).once("close", stop);
  }

  /** Each time what has arrived since the last time, in one piece. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    this.#isIterated = true;
    return this.#iterate();
  }

  /** To leave the iteration early does not destroy the stream and with it the response, unlike Node's own iterator. */
  async *#iterate(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#size > 0) yield this.#takeArrived();
      else if (this.#failure !== undefined) throw this.#failure;
      else if (this.#ended) return;
      else {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        this.#change = { resolve, reject };
        await promise;
        const turn = this.#options.connection.turnAfterShortBody(); // this may have been all of it
        if (turn !== undefined) await turn;
      }
    }
  }

  #take(chunk: Buffer): void {
    const { connection } = this.#options;
    connection.countPiece();
    if (this.#discarded !== undefined) {
      this.#discarded += chunk.length;
      this.#freeChunk(chunk);
      if (this.#discarded > maxDiscardedBytes) this.#options.cut();
      return;
    }
    const size = this.#size + chunk.length;
    if (this.#maxBytes !== undefined && size > this.#maxBytes) {
      this.refuse(bodyTooLarge(this.#maxBytes));
      return;
    }
    this.#count(chunk.length);
    if (this.#failure !== undefined) return;
    this.#append(chunk, size);
    this.#change?.resolve();
  }

  /** May refuse the body. */
  #count(bytes: number): void {
    this.held += bytes;
    this.#options.connection.bodies.add(this, bytes);
  }

  /**
   * Most bodies have one chunk, which is not copied. Several chunks are copied into one buffer: many small ones would
   * take a hundred times their bytes.
   */
  #append(chunk: Buffer, size: number): void {
    const { declaredLength } = this.#options;
    if (this.#size === 0) {
      this.#bytes = size === declaredLength ? plain(chunk) : ownBytes(chunk);
    } else {
      if (size > this.#bytes.length) {
        const most = declaredLength ?? this.#maxBytes ?? Number.POSITIVE_INFINITY;
        // Not filled with zeros: what lies beyond the size is never read, and takes no memory before it is written.
        const larger = new Uint8Array(
          Buffer.allocUnsafeSlow(Math.max(size, Math.min(4 * size, most))).buffer,
        );
        larger.set(this.#bytes.subarray(0, this.#size));
        if (this.#ownsBytes) freeNow(this.#bytes);
        this.#bytes = larger;
        this.#ownsBytes = true;
      }
      this.#bytes.set(chunk, this.#size);
      this.#freeChunk(chunk);
    }
    this.#size = size;
  }

  #freeChunk(chunk: Buffer): void {
    if (this.#options.ownsChunks === true) freeNow(chunk);
  }

  #end(): void {
    if (isAborted(this.#source)) return; // "close" follows
    this.#ended = true;
    if (this.#discarded !== undefined) return;
    this.#change?.resolve();
    if (this.#whole === undefined) return;
    clearTimeout(this.#timer);
    // A longer one waits for the turn in which a message is made of it.
    const isShort = this.#size <= shortBodyBytes;
    const turn = isShort ? this.#options.connection.turnAfterShortBody() : undefined;
    if (turn === undefined) this.#resolveWhole();
    else void turn.then(() => this.#resolveWhole());
  }

  #resolveWhole(): void {
    const whole = this.#whole;
    this.#whole = undefined; // its promise keeps the bytes, and an idle connection keeps its last request
    if (this.#failure === undefined) whole?.resolve(this.#handOver());
  }

  async #cutShort(): Promise<void> {
    if (this.#ended) return;
    const turn = this.#options.connection.turnBeforeEnd();
    if (turn !== undefined) await turn;
    if (!this.#ended) this.refuse(new ConnectError("the request body ended early", Code.Canceled));
  }

  /** The caller of `bytes` has them now: to refuse the body would free nothing. */
  #handOver(): Uint8Array {
    clearTimeout(this.#timer);
    const isOwned = this.#ownsBytes;
    const bytes = this.#takeArrived();
    if (isOwned) this.#handedOver = bytes;
    this.#options.connection.bodies.forbidRefusal(this);
    return bytes;
  }

  #takeArrived(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#size);
    this.#bytes = nothing;
    this.#size = 0;
    this.#ownsBytes = false;
    return bytes;
  }

  #letGo(): void {
    clearTimeout(this.#timer);
    if (this.#ownsBytes) freeNow(this.#bytes);
    this.#ownsBytes = false;
    this.#bytes = nothing;
    this.#size = 0;
    if (this.held > 0) {
      this.#options.connection.bodies.remove(this, this.held);
      this.held = 0;
    }
  }
}

/** Node's HTTP/2 ends a body properly when its connection ends in the middle of it. */
function isAborted(source: Readable & { readonly aborted?: boolean }): boolean {
  return source.aborted === true;
}

/**
 * Frees all memory behind these bytes at once. A garbage collector would keep it for long, because it sees small objects, and go
 * through the whole heap for a few hundred of them.
 */
export function freeNow({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= minFreedBytes) buffer.transfer(0);
}

/** Plain bytes that keep little else in memory: a small chunk may be a slice of a large packet. */
function ownBytes(chunk: Buffer): Uint8Array {
  return chunk.buffer.byteLength <= 2 * chunk.length + 1024 ? plain(chunk) : new Uint8Array(chunk);
}

function plain(chunk: Buffer): Uint8Array {
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function bodyTooSlow(timeoutMs: number): ConnectError {
  return new ConnectError(`the request body took longer than ${timeoutMs} ms`, Code.DeadlineExceeded);
}
