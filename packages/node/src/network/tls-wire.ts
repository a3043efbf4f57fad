import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/**
 * What the other side may send of a handshake of TLS, in bytes; honest ones send 2 to 10 KiB. OpenSSL would take certificates of 100 KiB,
 * and compares each name in them with each constraint of those that signed them: that takes two seconds in one piece.
 */
const maxHandshakeBytes = 32 * 1024;

/**
 * What may come after it without a byte of an answer, such as tickets and new keys, in bytes of TLS. OpenSSL takes 7 us for each of them, and
 * 18 bytes are enough for one. Of an answer that is read slowly, 160 KiB come between two readings.
 */
const maxSilentBytes = 512 * 1024;

/** What waits for OpenSSL, in bytes. The default of streams may have been raised, and then more of an answer would wait than may be silent. */
const heldBytes = 64 * 1024;

/** Types of records of TLS, which are never encrypted in TLS 1.2. In TLS 1.3 each record that is encrypted has another one. */
const recordTypes = { changeCipherSpec: 20, handshake: 22 };

/** Type, version, length (RFC 8446 §5.1). */
const recordHeadBytes = 5;

/** The last record of the server's handshake, which follows a change of keys, has less: "finished", or a second ServerHello. */
const maxLastBytes = 2 * 1024;

/**
 * Looks for handshakes that a server of TLS 1.2 asks for. OpenSSL refuses them by an alert each, which takes 75 us, and 4 bytes ask for one.
 */
class Records {
  readonly #head: number[] = [];
  /** Bytes of this record that have not come. */
  #left = 0;
  #hasChangedKeys = false;
  #isComplete = false;

  /** @returns whether no record asks for a handshake */
  read(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const here = Math.min(this.#left, chunk.length - at);
        this.#left -= here;
        at += here;
        continue;
      }
      this.#head.push(chunk[at] ?? 0);
      at += 1;
      if (this.#head.length === recordHeadBytes && !this.#begin()) return false;
    }
    return true;
  }

  #begin(): boolean {
    const [type, , , high = 0, low = 0] = this.#head.splice(0);
    this.#left = high * 256 + low;
    if (type === recordTypes.changeCipherSpec) this.#hasChangedKeys = true;
    if (type !== recordTypes.handshake || !this.#hasChangedKeys) return true;
    if (this.#isComplete) return false;
    this.#isComplete = true;
    return this.#left <= maxLastBytes;
  }
}

/** A connection for TLS. It breaks off where the server sends much that is no answer, before OpenSSL has it. */
export class TlsWire extends Duplex {
  readonly #socket: Socket;
  readonly #onBytes: (bytes: number) => void;
  /** What has come of the handshake, or since it brought something of an answer. */
  #bytes = 0;
  #isOver = false;
  readonly #records = new Records();

  /** @param onBytes so many have come after the handshake, and are decrypted now */
  constructor(socket: Socket, onBytes: (bytes: number) => void) {
    super({ highWaterMark: heldBytes });
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
    if (!this.#records.read(chunk)) {
      this.destroy(new Error("the server asks for another handshake of TLS"));
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
