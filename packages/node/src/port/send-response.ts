import type { Writable } from "node:stream";
import type { HttpResponse } from "@a2a-connect/bindings";
import { nextSlice } from "@a2a-connect/bindings/server";
import { callUnawaited } from "@a2a-connect/core/internal";
import type { CallerConnection } from "./callers/callers.ts";

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly header: Headers | undefined;
  /** Bytes of the body; undefined when only its end tells. */
  readonly contentLength: number | undefined;
  /** The response has no body. */
  readonly bodiless: boolean;
  /** Send the head without waiting for the first bytes of the body. */
  readonly atOnce: boolean;
  /** Read when the body has ended, so a handler may set it until then. */
  readonly trailer: Headers | undefined;
}

/** What answers share that are sent side by side. */
export interface SharedLine {
  /** Bytes that the system has taken, of all. */
  readonly sentBytes: number;
  /** How many answers there may be. */
  readonly answers: number;
}

/** The target of a response: an HTTP/1.1 message or an HTTP/2 stream. */
export interface ResponseSink {
  readonly writable: Writable;
  /** The caller closed the stream or the connection. */
  readonly gone: boolean;
  readonly headSent: boolean;
  /** Other answers of the connection are sent first. */
  readonly isQueued: boolean;
  /** `end` was called: later failures do not change the call's result. */
  readonly complete: boolean;
  /** Of a connection that sends several answers side by side. Undefined: it sends one after the other. */
  readonly line: SharedLine | undefined;
  /** The system has taken all of a complete response. */
  readonly taken: boolean;
  sendHead(head: ResponseHead): void;
  /** Completes the response, perhaps with its last bytes. */
  end(last: string | Uint8Array | undefined, trailer: Headers | undefined): void;
  /** Breaks the response off, so that the caller notices. */
  reset(): void;
}

/** How long, and with how much in memory, the server waits for a reader. */
export interface Patience {
  /** How long one write may wait before the response is broken off. */
  readonly stalledTimeoutMs: number;
  /** Counts what waits for it, and has the answer cut off when that is too much; its caller takes turns with others. */
  readonly connection: Pick<CallerConnection, "countWaiting" | "turnBeforePiece" | "turnBeforeEnd"> & {
    readonly caller: object;
  };
}

/** A body of up to this size is one write. A longer one goes out in several, so that a stalled reader is detected. */
const sliceBytes = 64 * 1024;

/**
 * Writes `response` to `sink`, never faster than the caller reads.
 *
 * The head of an iterable body is sent with its first chunk, because Connect's handlers may set header fields until
 * then, unless the response has `headAtOnce`. Every later chunk is a write of its own. When the caller disconnects, the
 * iterator's `return` is called at once. Resolves when the reader, or the system, has taken everything.
 */
export async function sendResponse(
  response: HttpResponse,
  method: string,
  sink: ResponseSink,
  patience: Patience,
): Promise<void> {
  const { status, header, trailer, headAtOnce: atOnce = false } = response;
  const body = inPieces(response.body);
  if (sink.gone) return abandon(body);
  if (method === "HEAD" || status === 204 || status === 304) {
    const isKnown = method === "HEAD" && status !== 204 && status !== 304 && !isIterable(body);
    const contentLength = isKnown ? lengthOf(body) : undefined;
    sink.sendHead({ status, header, contentLength, bodiless: true, atOnce: false, trailer: undefined });
    sink.end(undefined, undefined);
    abandon(body);
    return await written(sink, patience);
  }
  if (isIterable(body)) {
    const sendHead = (): void =>
      sink.sendHead({ status, header, contentLength: undefined, bodiless: false, atOnce, trailer });
    await writeChunks(body, atOnce, sendHead, sink, patience);
    if (!sink.gone) sink.end(undefined, trailer);
    return await written(sink, patience);
  }
  const contentLength = trailer === undefined ? lengthOf(body) : undefined;
  sink.sendHead({ status, header, contentLength, bodiless: contentLength === 0, atOnce: false, trailer });
  if (body instanceof Uint8Array && body.length > sliceBytes)
    await writeSlices(body, trailer, sink, patience);
  else sink.end(body, trailer);
  if (!sink.gone && !sink.taken) await written(sink, patience);
}

/**
 * A long text as bytes, so that it can be sent in several writes; a short one as text, so that Node writes it with the
 * head.
 */
function inPieces(body: HttpResponse["body"]): HttpResponse["body"] {
  return typeof body === "string" && body.length > sliceBytes / 4 ? Buffer.from(body) : body;
}

function lengthOf(body: string | Uint8Array | undefined): number {
  return typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);
}

function isIterable(body: HttpResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && !(body instanceof Uint8Array);
}

async function writeChunks(
  body: AsyncIterable<Uint8Array>,
  headAtOnce: boolean,
  sendHead: () => void,
  sink: ResponseSink,
  patience: Patience,
): Promise<void> {
  const iterator = body[Symbol.asyncIterator]();
  const onClose = async (): Promise<void> => {
    const turn = patience.connection.turnBeforeEnd(); // one connection may have had thousands
    if (turn !== undefined) await turn;
    letGo(iterator);
  };
  sink.writable.once("close", onClose);
  try {
    if (headAtOnce) sendHead();
    let hasHead = headAtOnce;
    /** @returns its bytes; undefined: the body has ended, or its reader has gone. Afterwards this function has no chunk in memory */
    const writeNext = async (): Promise<number | undefined> => {
      const { done, value } = await iterator.next();
      if (sink.gone) return undefined;
      if (!hasHead) sendHead();
      hasHead = true;
      if (done === true) return undefined;
      await writeChunk(value, sink, patience);
      return value.length;
    };
    let written = 0;
    for (let bytes = await writeNext(); bytes !== undefined; bytes = await writeNext()) {
      written += bytes;
      if (written >= sliceBytes) {
        written = 0;
        await nextSlice(patience.connection.caller); // a socket that never blocks would block other calls
      } else {
        const turn = patience.connection.turnBeforePiece();
        if (turn !== undefined) await turn;
      }
    }
  } catch (error) {
    if (!sink.gone) throw error;
  } finally {
    sink.writable.off("close", onClose);
    letGo(iterator); // does nothing when the body has ended by itself
  }
}

async function writeSlices(
  body: Uint8Array,
  trailer: Headers | undefined,
  sink: ResponseSink,
  patience: Patience,
): Promise<void> {
  const last = body.length - (body.length % sliceBytes || sliceBytes);
  await writeChunk(body.subarray(0, last), sink, patience);
  if (!sink.gone) sink.end(body.subarray(last), trailer);
}

/** Writes a chunk in parts, so that a stalled reader is detected and no more than one part is buffered. */
async function writeChunk(chunk: Uint8Array, sink: ResponseSink, patience: Patience): Promise<void> {
  for (let at = 0; at < chunk.length && !sink.gone; at += sliceBytes) {
    const slice = chunk.length > sliceBytes ? chunk.subarray(at, at + sliceBytes) : chunk;
    if (!sink.writable.write(slice)) await drained(sink, patience, chunk.length - at - slice.length);
  }
}

/** Resolves when the sink can take more bytes, or never will. @param rest bytes that will be written then */
function drained(sink: ResponseSink, patience: Patience, rest: number): Promise<void> {
  return sink.gone ? Promise.resolve() : happened("drain", sink, patience, rest);
}

/** Resolves when everything was taken, or never will be. */
function written(sink: ResponseSink, patience: Patience): Promise<void> {
  return sink.gone || sink.taken ? Promise.resolve() : happened("finish", sink, patience, 0);
}

/**
 * How often the server looks whether a reader has taken a write before it gives the reader up. A pause of the process,
 * however long, is over with one look, so that the reader is not cut off for it: what it took meanwhile is only seen later.
 */
const looksAtReader = 8;

/**
 * A write that shares its line has its turn after those of all other answers. So it may wait while others are taken, one at least in the
 * time that a write may wait; but not while so many bytes for each answer are.
 */
const turnBytes = 2 * sliceBytes;

function happened(
  event: "drain" | "finish",
  sink: ResponseSink,
  patience: Patience,
  rest: number,
): Promise<void> {
  const { writable, line } = sink;
  const { promise, resolve } = Promise.withResolvers<void>();
  const sentFirst = line?.sentBytes ?? 0;
  let sentBefore = sentFirst;
  /** Since `looks` was 0. */
  const waitsForTurn = (): boolean => {
    if (line === undefined) return false;
    const { sentBytes, answers } = line;
    const isMoving = sentBytes - sentBefore >= sliceBytes;
    sentBefore = sentBytes;
    return isMoving && sentBytes - sentFirst < turnBytes * answers;
  };
  let looks = 0;
  const look = (): void => {
    looks = sink.isQueued ? 0 : looks + 1;
    if (looks < looksAtReader) return;
    looks = 0;
    if (!waitsForTurn()) cut();
  };
  const timer = setInterval(look, patience.stalledTimeoutMs / looksAtReader).unref();
  const settle = (): void => {
    clearInterval(timer);
    free();
    writable.off(event, settle).off("close", settle);
    resolve();
  };
  const cut = (): void => {
    sink.reset();
    settle();
  };
  writable.on(event, settle).on("close", settle);
  const free = patience.connection.countWaiting(writable.writableLength, rest, cut);
  return promise;
}

function abandon(body: HttpResponse["body"]): void {
  if (isIterable(body)) letGo(body[Symbol.asyncIterator]());
}

/** The error of the clean-up of an unread body is dropped. */
function letGo(iterator: AsyncIterator<Uint8Array>): void {
  callUnawaited(() => iterator.return?.());
}
