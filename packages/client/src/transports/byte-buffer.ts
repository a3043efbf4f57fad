const initialSize = 1024;

/**
 * Bytes that arrive in small arrays. It costs at most twice the received bytes, for any size of the arrays. A list of
 * arrays would cost a hundred times as much when a server sends single bytes.
 */
export class ByteBuffer {
  #bytes = new Uint8Array(initialSize);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    if (length > this.#bytes.byteLength) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.byteLength * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** The bytes so far; valid until the next change. */
  peek(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** All bytes. They belong to the caller from then on, and the buffer is empty. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(initialSize);
    this.#length = 0;
    return taken;
  }
}
