import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/**
 * What the other side may send of a handshake of TLS, in bytes; honest ones send 2 to 10 KiB. OpenSSL would take certificates of 100 KiB,
 * and compares each name in them with each constraint of those that signed them: that takes two seconds in one piece.
 */
const maxHandshakeBytes = 32 * 1024;

/**
 * What may come after it without a byte of an answer, such as tickets and new keys, in bytes of TLS. OpenSSL takes 7 us for each of them, and
 * 18 bytes are enough for one. Of an answer that is read slowly, as much may wait in buffers.
 */
const maxSilentBytes = 512 * 1024;

/** A connection for TLS. It breaks off where the server sends much that is no answer, before OpenSSL has it. */
export class TlsWire extends Duplex {
  readonly #socket: Socket;
  readonly #onBytes: (bytes: number) => void;
  /** What has come of the handshake, or since it brought something of an answer. */
  #bytes = 0;
  #isOver = false;

  /** @param onBytes so many have come after the handshake, and are decrypted now */
  constructor(socket: Socket, onBytes: (bytes: number) => void) {
    super();
    this.#socket = socket;
    this.#onBytes = onBytes;
    socket
      .on("data", (chunk: Buffer) => this.#take(chunk))
      .on("end", () => this.push(null))
      .on("error", (error) => this.destroy(error))
      .on("close", () => this.destroy())
      .pause();
  }

  /** The handshake has ended. */
  handshakeEnded(): void {
    this.#isOver = true;
    this.#bytes = 0;
  }

  /** Something of an answer has come. */
  answered(): void {
    this.#bytes = 0;
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > (this.#isOver ? maxSilentBytes : maxHandshakeBytes)) {
      const what = this.#isOver
        ? `${maxSilentBytes} bytes of TLS, and nothing of an answer in them`
        : `${maxHandshakeBytes} bytes in its handshake of TLS`;
      this.destroy(new Error(`the server has sent more than ${what}`));
      return;
    }
    if (this.#isOver) this.#onBytes(chunk.length);
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
