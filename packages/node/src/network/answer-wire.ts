import type { Socket } from "node:net";
import { SocketWire } from "./socket-wire.ts";

/** So many have been parsed, in so many milliseconds. */
export type OnBytes = (bytes: number, tookMs: number) => void;

/**
 * They are parsed now. What TLS has decrypted comes to its parser in a tick of Node, and the end is measured behind it: still before
 * anything else is read.
 */
export function measureParsing(bytes: number, onBytes: OnBytes): void {
  const began = performance.now();
  process.nextTick(() => process.nextTick(() => onBytes(bytes, performance.now() - began)));
}

/** A connection whose parser does not tell what it reads. So this counts what comes over it, before more of it is read. */
export class AnswerWire extends SocketWire {
  readonly #onBytes: OnBytes;

  constructor(socket: Socket, onBytes: OnBytes) {
    super(socket);
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
      .on("close", () => {
        // Behind an end it would destroy TLS, which has perhaps not given out all that it has decrypted. TLS closes when it has.
        if (!socket.readableEnded) this.emit("close");
      })
      .pause();
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
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }
}
