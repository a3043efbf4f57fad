import { nextSlice } from "./next-slice.ts";

/** Bytes that are made before everybody else has a turn. */
const turnBytes = 128 * 1024;

/** Runs steps that yield the bytes they made; everybody else has a turn in between. @returns what comes last */
export async function runInTurns<Result>(steps: Generator<number, Result>): Promise<Result> {
  let made = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
    made += step.value;
    if (made > turnBytes) {
      made = 0;
      await nextSlice();
    }
  }
}

const encoder = new TextEncoder();

/** The pieces of a text as bytes; others have their turn between them. */
export function encodeInTurns(texts: Iterable<string>): Promise<readonly Uint8Array[]> {
  return runInTurns(encodeEach(texts));
}

function* encodeEach(texts: Iterable<string>): Generator<number, readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (const text of texts) {
    const piece = encoder.encode(text);
    pieces.push(piece);
    yield piece.length;
  }
  return pieces;
}

/** The pieces of a text as bytes, each made when it is asked for. */
export function* encodeTexts(texts: Iterable<string>): Generator<Uint8Array> {
  for (const text of texts) {
    yield encoder.encode(text);
  }
}

/** A body of pieces. Who writes it lets others have their turn between them. */
export async function* toBody(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** The coding that is made piece by piece; a large answer has no other. */
export const streamedCoding = "gzip";

/** Pieces in gzip, each compressed when there is room for it. */
export async function* gzip(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = pieces[Symbol.iterator]();
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const next = iterator.next();
      if (next.done === true) {
        controller.close();
      } else {
        controller.enqueue(next.value as Uint8Array<ArrayBuffer>); // we make no shared memory
      }
    },
  });
  const reader = source.pipeThrough(new CompressionStream(streamedCoding)).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      yield next.value;
    }
  } finally {
    await reader.cancel();
  }
}
