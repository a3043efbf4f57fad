import { callUnawaited, type Timer } from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** A message as bytes, whole or in pieces. */
export type Encoded = Uint8Array | Iterator<Uint8Array>;

/** How a wire writes the messages of a stream. */
export interface StreamFormat {
  /** One chunk; for a large message several chunks, each made after the one before was taken. */
  message(message: Message): Encoded | Promise<Encoded>;
  /** The last bytes of a stream that ended without an error, undefined for none. */
  end(): Uint8Array | undefined;
  /** The last bytes of a stream that broke, undefined for none. */
  failure(thrown: unknown): Uint8Array | undefined;
}

/** Options of the body of a streamed response. */
export interface StreamSource {
  /** The pending or settled first message. */
  readonly first: Promise<IteratorResult<Message>>;
  /** The messages after it. */
  readonly messages: AsyncIterator<Message>;
  readonly format: StreamFormat;
  /**
   * Ends the body at once: without last bytes when the reader has disconnected, otherwise with its reason (requirement
   * K-8).
   */
  readonly signal: AbortSignal;
  /** The bytes for a silent stream, and after how many milliseconds to send them. */
  readonly keepAlive?: { readonly chunk: Uint8Array; readonly everyMs: number; readonly timer: Timer };
  /** Called once, when the stream will have no more messages. */
  readonly onEnd?: () => void;
}

/**
 * The body of a streamed response: one chunk for each message. It asks for one message at a time, so a slow reader
 * slows the implementation down, and no queue grows.
 */
export function createStreamBody(source: StreamSource): AsyncIterableIterator<Uint8Array> {
  return new StreamBody(source);
}

type Chunk = IteratorResult<Uint8Array>;

const end: Chunk = { done: true, value: undefined };

/** Not a generator, because `return` has to work while `next` is pending. */
class StreamBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: Omit<StreamSource, "first">;
  /** The pending `next`, if there is one. */
  #waiting: Pick<PromiseWithResolvers<Chunk>, "resolve" | "reject"> | undefined;
  #stopKeepAlive: (() => void) | undefined;
  /** What arrived without a pending `next`: a message, and the failure that may follow it. */
  readonly #ready: Chunk[] = [];
  #pulling = false;
  /** The rest of a large message that is being sent. */
  #pieces: Iterator<Uint8Array> | undefined;
  #ended = false;
  /** Why the last bytes could not be made, until a `next` has told it. */
  #failure: { readonly error: unknown } | undefined;

  constructor({ first, ...source }: StreamSource) {
    this.#source = source; // without the first message, which may be large: a stream may go on for hours
    source.signal.addEventListener("abort", this.#abort, { once: true });
    this.#pull(first);
    if (source.signal.aborted) {
      this.#abort();
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Chunk> {
    const ready = this.#ready.shift();
    if (ready !== undefined) {
      return Promise.resolve(ready);
    }
    const piece = this.#nextPiece();
    if (piece !== undefined) {
      return Promise.resolve(piece);
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#ended) {
      return Promise.resolve(end);
    }
    return new Promise((resolve, reject) => {
      const { keepAlive, messages } = this.#source;
      this.#waiting = { resolve, reject };
      this.#stopKeepAlive = keepAlive?.timer(keepAlive.everyMs, () =>
        this.#deliver({ done: false, value: keepAlive.chunk }),
      );
      if (!this.#pulling) {
        this.#pull(messages.next());
      }
    });
  }

  return(): Promise<Chunk> {
    this.#close();
    return Promise.resolve(end);
  }

  #pull(message: Promise<IteratorResult<Message>>): void {
    this.#pulling = true;
    message.then(
      (result) => this.#arrive(result),
      (thrown: unknown) => this.#fail(thrown),
    );
  }

  #arrive(result: IteratorResult<Message>): void {
    if (this.#ended) {
      return; // too late: the reader has disconnected, or was told that the server stops
    }
    if (result.done === true) {
      this.#finish(() => this.#source.format.end());
      return;
    }
    try {
      const encoded = this.#source.format.message(result.value);
      if (encoded instanceof Promise) {
        encoded.then(this.#deliverMessage).catch(this.#giveUp);
      } else {
        this.#deliverMessage(encoded);
      }
    } catch (thrown) {
      this.#giveUp(thrown);
    }
  }

  readonly #deliverMessage = (encoded: Encoded): void => {
    this.#pulling = false;
    if (this.#ended) {
      return;
    }
    if (encoded instanceof Uint8Array) {
      this.#deliver({ done: false, value: encoded });
      return;
    }
    this.#pieces = encoded;
    if (this.#waiting !== undefined) {
      const piece = this.#nextPiece();
      if (piece !== undefined) {
        this.#deliver(piece);
      }
    }
  };

  /** The next piece of a large message; undefined when there is none left. */
  #nextPiece(): Chunk | undefined {
    const pieces = this.#pieces;
    this.#pieces = undefined; // also when the next one cannot be made
    const piece = pieces?.next();
    if (piece?.done !== false) {
      return undefined;
    }
    this.#pieces = pieces;
    return piece;
  }

  /** The implementation succeeds, but we fail. */
  readonly #giveUp = (thrown: unknown): void => {
    this.#fail(thrown);
    this.#returnMessages();
  };

  #fail(thrown: unknown): void {
    if (!this.#ended) {
      this.#finish(() => this.#source.format.failure(thrown));
    } // otherwise the reader has disconnected
  }

  /** There may be no last bytes. Then the reader waits for the end itself. Where they cannot be made, the body breaks off. */
  #finish(makeLast: () => Uint8Array | undefined): void {
    const isCut = this.#pieces !== undefined; // the reader would take later bytes for the rest of the message
    this.#end();
    try {
      const last = makeLast();
      this.#deliver(last === undefined || isCut ? end : { done: false, value: last });
    } catch (error) {
      const waiting = this.#stopWaiting();
      if (waiting === undefined) this.#failure = { error };
      else waiting.reject(error);
    }
  }

  #deliver(chunk: Chunk): void {
    const waiting = this.#stopWaiting();
    if (waiting === undefined) this.#ready.push(chunk);
    else waiting.resolve(chunk);
  }

  /** @returns the `next` that was pending */
  #stopWaiting(): Pick<PromiseWithResolvers<Chunk>, "resolve" | "reject"> | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#stopKeepAlive?.();
    return waiting;
  }

  readonly #abort = (): void => {
    const reason: unknown = this.#source.signal.reason;
    if (reason instanceof ConnectError && reason.code !== Code.Canceled) {
      this.#giveUp(reason);
    } else {
      this.#close();
    }
  };

  #close(): void {
    if (this.#ended) {
      return;
    }
    this.#end();
    this.#ready.length = 0;
    this.#stopWaiting()?.resolve(end);
    this.#returnMessages();
  }

  #end(): void {
    this.#ended = true;
    this.#pieces = undefined;
    this.#source.signal.removeEventListener("abort", this.#abort);
    this.#source.onEnd?.();
  }

  /** Lets the implementation clean up. That may take time. */
  #returnMessages(): void {
    callUnawaited(() => this.#source.messages.return?.());
  }
}
