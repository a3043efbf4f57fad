const initialSize = 1024;
/** Most buffers stay empty. */
const empty = new Uint8Array();

/**
 * Bytes that arrive in small arrays. It costs at most twice the received bytes, for any size of the arrays. A list of
 * arrays would cost a hundred times as much when a server sends single bytes.
 */
export class ByteBuffer {
  #bytes: Uint8Array<ArrayBuffer> = empty;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    if (length > this.#bytes.byteLength) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.byteLength * 2, initialSize));
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
    this.#bytes = empty;
    this.#length = 0;
    return taken;
  }
}

/** All pieces in one array; a single piece is returned as it is. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) {
    return only;
  }
  const joined = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.byteLength;
  }
  return joined;
}

/** What `chunksOf` needs of a `ReadableStream`. */
export interface ChunkedBody {
  getReader(): {
    read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
}

/**
 * A body chunk by chunk; not every browser can iterate over a stream. To stop early closes the connection.
 *
 * @param explain gets what the stream throws, and returns what the caller is to catch; default the same
 */
export async function* chunksOf(
  body: ChunkedBody | null,
  explain: (thrown: unknown) => unknown = (thrown) => thrown,
): AsyncGenerator<Uint8Array, void> {
  if (body === null) {
    return;
  }
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      yield next.value;
    }
  } catch (thrown) {
    throw explain(thrown);
  } finally {
    reader.cancel().catch(() => {}); // it is closed already, or the rest is not needed
  }
}

/** All bytes, or undefined when there are more than `maxBytes`; then the rest is not read. */
export async function readAtMost(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const buffer = new ByteBuffer();
  for await (const chunk of chunks) {
    if (buffer.length + chunk.byteLength > maxBytes) {
      return undefined;
    }
    buffer.append(chunk);
  }
  return buffer.take();
}
