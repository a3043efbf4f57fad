import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * A connection whose parser does not tell what it reads. So this counts what comes over it, before the parser has it. It is what Node
 * uses of a stream (`asStream`), without the buffers of one: they would make each call take half as long again.
 */
export class AnswerWire extends EventEmitter {
  readonly #socket: Socket;

  /** @param onBytes so many have come, and are parsed now */
  constructor(socket: Socket, onBytes: (bytes: number) => void) {
    super();
    this.#socket = socket;
    socket
      .on("data", (chunk: Buffer) => {
        const refusal = this.refuse(chunk);
        if (refusal !== undefined) {
          socket.pause().destroy(new Error(refusal));
          return;
        }
        onBytes(chunk.length);
        this.emit("data", chunk);
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

  write(chunk: Uint8Array, done: (error?: Error | null) => void): boolean {
    return this.#socket.write(chunk, done);
  }

  end(done?: () => void): void {
    this.#socket.end(done);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
