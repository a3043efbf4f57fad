import type { Readable } from "node:stream";
import type { HttpBody } from "@a2a-connect/bindings";
import { bodyTooLarge } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";

/** What is known about a request body before its first byte. */
export interface RequestBodyOptions {
  /** From `content-length`; 0 when the request has no body; undefined when only its end tells. */
  readonly declaredLength: number | undefined;
  /** How long `bytes` waits for the last byte, in milliseconds. Unlimited when absent. */
  readonly timeoutMs?: number;
}

/**
 * A request body over Node's stream of it. Nothing is read before somebody asks, so an unread body costs the
 * caller its flow-control window and us nothing.
 *
 * Leaving the body half-read (too large, or an iteration left early) keeps the connection usable: the exchange
 * discards the rest once the response is on its way.
 */
export function createRequestBody(source: Readable, options: RequestBodyOptions): HttpBody {
  return {
    bytes: (maxBytes) => collect(source, maxBytes, options),
    [Symbol.asyncIterator]: () => chunksOf(source),
  };
}

function collect(source: Readable, maxBytes: number, options: RequestBodyOptions): Promise<Uint8Array> {
  const { declaredLength, timeoutMs } = options;
  if (declaredLength !== undefined && declaredLength > maxBytes)
    return Promise.reject(bodyTooLarge(maxBytes));
  if (declaredLength === 0 || source.readableEnded) return Promise.resolve(new Uint8Array());
  if (source.destroyed) return Promise.reject(bodyCutShort());
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > maxBytes) fail(bodyTooLarge(maxBytes));
    else chunks.push(chunk);
  };
  const onEnd = (): void => {
    stop();
    resolve(join(chunks, size));
  };
  const onClose = (): void => fail(bodyCutShort());
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => fail(bodyTooSlow(timeoutMs)), timeoutMs).unref();
  const stop = (): void => {
    clearTimeout(timer);
    source.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
  };
  const fail = (reason: ConnectError): void => {
    stop();
    source.pause();
    reject(reason);
  };
  source.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
  return promise;
}

/** One piece is the rule, and then nothing is copied. The result is a plain `Uint8Array`, never a `Buffer`. */
function join(chunks: readonly Buffer[], size: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return plain(first);
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

function plain(chunk: Buffer): Uint8Array {
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** Unlike Node's own iterator this one does not destroy the stream, and with it the response, when it is left early. */
async function* chunksOf(source: Readable): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk: Buffer | null = source.read();
    if (chunk !== null) yield plain(chunk);
    else if (source.readableEnded) return;
    else if (source.destroyed) throw bodyCutShort();
    else await changed(source);
  }
}

/** Resolves when there is more to read, or when there will never be. */
function changed(source: Readable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settle = (): void => {
    source.off("readable", settle).off("end", settle).off("error", settle).off("close", settle);
    resolve();
  };
  source.on("readable", settle).on("end", settle).on("error", settle).on("close", settle);
  return promise;
}

function bodyCutShort(): ConnectError {
  return new ConnectError("the request body ended early", Code.Canceled);
}

function bodyTooSlow(timeoutMs: number): ConnectError {
  return new ConnectError(`the request body took longer than ${timeoutMs} ms`, Code.DeadlineExceeded);
}
