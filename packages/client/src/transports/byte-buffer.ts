const initialSize = 1024;

/**
 * Bytes that arrive piece by piece. Costs what was received and never twice that, whatever the size of the pieces: a list
 * of pieces costs a hundred times as much when somebody sends them byte by byte.
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

  /** What is there so far; valid until the next change. */
  peek(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Everything, which is the caller's from then on: the buffer is empty. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(initialSize);
    this.#length = 0;
    return taken;
  }
}
