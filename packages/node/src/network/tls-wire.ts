import type { Socket } from "node:net";
import { AnswerWire, type OnBytes } from "./answer-wire.ts";

/**
 * What the other side may send of a handshake of TLS, in bytes; honest ones send 2 to 10 KiB. OpenSSL would take certificates of 100 KiB,
 * and compares each name in them with each constraint of those that signed them: that takes two seconds in one piece.
 */
const maxHandshakeBytes = 32 * 1024;

/**
 * What may come after it without a byte of an answer, such as tickets and new keys, in bytes of TLS. OpenSSL takes 7 us for each of them, and
 * 18 bytes are enough for one.
 */
const maxSilentBytes = 512 * 1024;

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

/**
 * A connection for TLS. It breaks off where the server sends much that is no answer, before OpenSSL has it. Each piece of the handshake is
 * measured: OpenSSL verifies certificates as soon as it has them, and a server may hold back the end of its handshake for ever.
 */
export class TlsWire extends AnswerWire {
  /** What has come of the handshake, or since it brought something of an answer. */
  #bytes = 0;
  /** What TLS has decrypted; undefined: the handshake goes on. */
  #decrypted: { readonly bytesRead: number } | undefined;
  #bytesRead = 0;
  readonly #records = new Records();
  readonly #onHandshake: (tookMs: number) => void;
  /** When OpenSSL began to work on the piece of the handshake that it works on now. */
  #began: number | undefined;

  /** @param onHandshake OpenSSL has worked so long on a piece of the handshake */
  constructor(socket: Socket, onBytes: OnBytes, onHandshake: (tookMs: number) => void) {
    super(socket, onBytes);
    this.#onHandshake = onHandshake;
  }

  /** The handshake has ended, as it does within the work on its last piece. @param decrypted what TLS makes of what comes now */
  handshakeEnded(decrypted: { readonly bytesRead: number }): void {
    this.#endPiece();
    this.#decrypted = decrypted;
    this.#bytes = 0;
  }

  protected override parse(chunk: Buffer): void {
    if (this.#decrypted !== undefined) {
      super.parse(chunk);
      return;
    }
    this.#began = performance.now();
    this.emit("data", chunk);
    this.#endPiece();
  }

  #endPiece(): void {
    if (this.#began === undefined) return;
    this.#onHandshake(performance.now() - this.#began);
    this.#began = undefined;
  }

  protected override refuse(chunk: Buffer): string | undefined {
    const bytesRead = this.#decrypted?.bytesRead ?? 0;
    if (bytesRead > this.#bytesRead) this.#bytes = 0;
    this.#bytesRead = bytesRead;
    this.#bytes += chunk.length;
    if (this.#decrypted === undefined && this.#bytes > maxHandshakeBytes)
      return `the server has sent more than ${maxHandshakeBytes} bytes in its handshake of TLS`;
    if (this.#bytes > maxSilentBytes)
      return `the server has sent more than ${maxSilentBytes} bytes of TLS, and nothing of an answer in them`;
    return this.#records.read(chunk) ? undefined : "the server asks for another handshake of TLS";
  }
}
