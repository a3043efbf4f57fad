import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/**
 * What the other side may send of a handshake of TLS, in bytes; honest ones send 2 to 10 KiB. OpenSSL would take certificates of 100 KiB,
 * and compares each name in them with each constraint of those that signed them: that takes two seconds in one piece.
 */
const maxHandshakeBytes = 32 * 1024;

/** A connection for TLS, which breaks off a long handshake before OpenSSL has it. */
export class ShortHandshake extends Duplex {
  readonly #socket: Socket;
  /** What has come of the handshake; undefined: it is over. */
  #bytes: number | undefined = 0;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket
      .on("data", (chunk: Buffer) => this.#take(chunk))
      .on("end", () => this.push(null))
      .on("error", (error) => this.destroy(error))
      .on("close", () => this.destroy())
      .pause();
  }

  /** The handshake has ended: what comes from here on has no limit here. */
  handshakeEnded(): void {
    this.#bytes = undefined;
  }

  #take(chunk: Buffer): void {
    if (this.#bytes !== undefined) {
      this.#bytes += chunk.length;
      if (this.#bytes > maxHandshakeBytes) {
        this.destroy(new Error(`the server's handshake of TLS has more than ${maxHandshakeBytes} bytes`));
        return;
      }
    }
    if (!this.push(chunk)) this.#socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
