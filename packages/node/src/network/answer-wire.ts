import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { nextTick } from "node:process";
import type { Duplex } from "node:stream";

/** So many have been parsed, in so many milliseconds. */
export type OnBytes = (bytes: number, tookMs: number) => void;

/**
 * They are parsed now. What TLS has decrypted comes to its parser in a tick of Node, and the end is measured behind it: still before
 * anything else is read.
 */
export function measureParsing(bytes: number, onBytes: OnBytes): void {
  const began = performance.now();
  nextTick(() => nextTick(() => onBytes(bytes, performance.now() - began)));
}

/**
 * A connection whose parser does not tell what it reads. So this counts what comes over it, before more of it is read. It is what Node
 * uses of a stream (`asStream`), without the buffers of one: they would make each call take half as long again.
 */
export class AnswerWire extends EventEmitter {
  readonly #socket: Socket;
  readonly #onBytes: OnBytes;

  constructor(socket: Socket, onBytes: OnBytes) {
    super();
    this.#socket = socket;
    this.#onBytes = onBytes;
    socket
      .on("data", (chunk: Buffer) => {
        const refusal = this.refuse(chunk);
        if (refusal !== undefined) {
          socket.pause().destroy(new Error(refusal));
          return;
        }
        this.parse(chunk);
      })
      .on("end", () => this.emit("end"))
      .on("error", (error) => this.emit("error", error))
      .on("close", () => {
        // Behind an end it would destroy TLS, which has perhaps not given out all that it has decrypted. TLS closes when it has.
        if (!socket.readableEnded) this.emit("close");
      })
      .pause();
  }

  get asStream(): Duplex {
    return this as unknown as Duplex;
  }

  /** Why the connection ends before the parser has this; undefined: it goes on. */
  protected refuse(_chunk: Buffer): string | undefined {
    return undefined;
  }

  protected parse(chunk: Buffer): void {
    measureParsing(chunk.length, this.#onBytes);
    this.emit("data", chunk);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  /** A failure is told by "error" alone. TLS that hears of it here, too, tells it a second time, behind "close", when undici has let go of it. */
  write(chunk: Uint8Array, done: () => void): boolean {
    return this.#socket.write(chunk, () => done());
  }

  end(done?: () => void): void {
    this.#socket.end(done);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
