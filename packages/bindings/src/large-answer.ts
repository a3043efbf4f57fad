import type { Compression } from "@connectrpc/connect/protocol";
import type { Sender } from "./body.ts";
import { compressInTurn } from "./compress-in-turn.ts";
import type { HttpResponse } from "./http.ts";
import { type HeldPlace, nextSlice } from "./next-slice.ts";

/** Bytes that are made before other calls run: of 60,000 names they take 4 ms. */
const turnBytes = 64 * 1024;

/**
 * Size of an event from which each reader writes it in a slice: hundreds of readers may get one in the same turn of the event loop,
 * and a JSON text may take twelve times its memory.
 */
export const slowEventBytes: number = 16 * 1024;

/**
 * Runs steps that yield the number of bytes they made; other calls run in between.
 *
 * @param caller whose work it is, and what it holds meanwhile (`nextSlice`)
 * @returns the steps' return value
 */
export async function runInTurns<Result>(
  steps: Generator<number, Result>,
  caller: string | undefined,
  holds?: HeldPlace,
): Promise<Result> {
  let made = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
    made += step.value;
    if (made >= turnBytes) {
      made = 0;
      await (holds === undefined ? nextSlice(caller) : nextSlice(caller, holds));
    }
  }
}

const encoder = new TextEncoder();

/** All pieces of what is made piece by piece; other calls run between them. */
export function collectInTurns(
  pieces: Iterable<Uint8Array>,
  caller: string | undefined,
  holds?: HeldPlace,
): Promise<readonly Uint8Array[]> {
  return runInTurns(collect(pieces), caller, holds);
}

function* collect(pieces: Iterable<Uint8Array>): Generator<number, readonly Uint8Array[]> {
  const collected: Uint8Array[] = [];
  for (const piece of pieces) {
    collected.push(piece);
    yield piece.length;
  }
  return collected;
}

/** The pieces of a text as bytes. Each is made when the reader asks for it. */
export function* encodeTexts(texts: Iterable<string>): Generator<Uint8Array> {
  for (const text of texts) {
    yield encoder.encode(text);
  }
}

/** All of a text's pieces as bytes; other calls run between them. */
export function encodeInTurns(
  texts: Iterable<string>,
  caller: string | undefined,
  holds?: HeldPlace,
): Promise<readonly Uint8Array[]> {
  return collectInTurns(encodeTexts(texts), caller, holds);
}

/** A body of pieces. The code that writes it lets other calls run between them. */
export async function* toBody(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** The only coding of a large answer, because gzip can be made piece by piece. */
export const streamedCoding = "gzip";

/** Whether a body comes in pieces. */
export function isPieces(body: string | Uint8Array | Iterable<Uint8Array>): body is Iterable<Uint8Array> {
  return typeof body !== "string" && !(body instanceof Uint8Array);
}

/**
 * A body in a coding, which is then named in the header; pieces only in the one that can be made piece by piece, and whole bodies
 * unless too much waits (`compressInTurn`).
 *
 * @param field the header field for the name of the coding
 */
export async function encodeBody(
  caller: Sender,
  body: string | Uint8Array | Iterable<Uint8Array>,
  coding: Compression | undefined,
  field: string,
  header: Headers,
): Promise<NonNullable<HttpResponse["body"]>> {
  if (isPieces(body)) {
    if (coding?.name !== streamedCoding) {
      return toBody(body);
    }
    header.set(field, streamedCoding);
    return gzip(body);
  }
  if (coding === undefined) {
    return body;
  }
  const compressed = await compressInTurn(coding, body, caller.callerNetwork, caller.signal);
  if (compressed === undefined) return body;
  header.set(field, coding.name);
  return compressed;
}

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
