import { a2aError, findA2AError, invalidParams } from "@a2a-connect/core";
import { bodyTooLarge, inThreadTurn, readAtMost } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { smallBodyBytes } from "./body-turns.ts";
import type { HttpBody, HttpRequest } from "./http.ts";
import type { BindingSettings } from "./options.ts";

/** How much of a request is read, and in which codings. */
export interface BodyLimits extends UnpackLimits {
  readonly compressions: readonly Compression[];
}

/** Why a body was refused, and the HTTP status for it. */
export interface BodyRefusal {
  readonly status: 400 | 413 | 415;
  readonly error: ConnectError;
  /** Further header fields of the response. */
  readonly header?: HeadersInit;
}

/**
 * Reads a whole request body and decompresses it. Neither the received bytes nor the decompressed ones may exceed the
 * limit. A large body then waits for its slice (see `unpackBody`).
 *
 * @param caller its signal ends the wait of a large body; default the request's
 * @returns the bytes, or a refusal: 413 when they are too many, 415 for an unknown content coding, 400 when they are
 *   not in that coding
 * @throws ConnectError when the connection breaks, the caller has disconnected, or the server has no room for the body
 *   (CAPACITY)
 */
export async function readBody(
  request: HttpRequest,
  limits: BodyLimits,
  caller: Sender = request,
): Promise<Uint8Array | BodyRefusal> {
  const { maxBodyBytes, compressions } = limits;
  const coding = request.header.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  const compression = compressions.find(({ name }) => name === coding);
  if (compression === undefined && coding !== "identity" && coding !== "") {
    return unknownCoding(compressions);
  }
  if (Number(request.header.get("content-length")) > maxBodyBytes) {
    return tooLarge(maxBodyBytes);
  }
  try {
    const bytes = await wholeBody(request.body, maxBodyBytes);
    if (bytes === undefined) {
      return tooLarge(maxBodyBytes);
    }
    const unpacked = unpackBody(request.body, caller, bytes, compression, limits);
    return unpacked instanceof Promise ? await unpacked : unpacked;
  } catch (thrown) {
    return toRefusal(thrown);
  }
}

function toRefusal(thrown: unknown): BodyRefusal {
  if (thrown instanceof ConnectError && thrown.code === Code.InvalidArgument) {
    return { status: 400, error: thrown };
  }
  if (isTooLarge(thrown)) {
    return { status: 413, error: thrown };
  }
  throw thrown;
}

function isTooLarge(thrown: unknown): thrown is ConnectError {
  return findA2AError(thrown)?.reason === "BODY_TOO_LARGE";
}

/** 415 for a body of a media type that the wire does not accept. */
export function unsupportedMediaType(supported: readonly string[]): BodyRefusal {
  const list = supported.join(" or ");
  const error = a2aError("CONTENT_TYPE_NOT_SUPPORTED", `the request's Content-Type must be ${list}`, {
    supportedTypes: supported.join(","),
  });
  return { status: 415, error };
}

function unknownCoding(compressions: readonly Compression[]): BodyRefusal {
  const supported = [...compressions.map(({ name }) => name), "identity"];
  const error = a2aError(
    "CONTENT_TYPE_NOT_SUPPORTED",
    `the request's Content-Encoding must be ${supported.join(" or ")}`,
    { supportedEncodings: supported.join(",") },
  );
  return { status: 415, error, header: { "accept-encoding": supported.join(", ") } };
}

function tooLarge(maxBodyBytes: number): BodyRefusal {
  return { status: 413, error: bodyTooLarge(maxBodyBytes) };
}

/** All bytes, or undefined when there are more than allowed; then the rest is not read. */
export async function collectBytes(body: HttpBody, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    return await wholeBody(body, maxBytes);
  } catch (thrown) {
    if (isTooLarge(thrown)) {
      return undefined;
    }
    throw thrown;
  }
}

/** All bytes; of more than allowed undefined, or a rejection with BODY_TOO_LARGE. */
function wholeBody(body: HttpBody, maxBytes: number): Promise<Uint8Array | undefined> {
  return body.bytes?.(maxBytes) ?? readAtMost(body, maxBytes);
}

/**
 * The bytes of a body. @throws ConnectError why the body was refused, because these wires have no HTTP status for it
 */
export function unlessRefused<T extends object>(result: T): Exclude<T, BodyRefusal> {
  if ("error" in result) {
    throw result.error;
  }
  return result as Exclude<T, BodyRefusal>; // which all have an error, and nothing else has
}

/** InvalidArgument for a request that is not one message of its type. */
export function malformedRequest(problem: string): ConnectError {
  return invalidParams({ field: "", description: `the request ${problem}` });
}

/** A body up to this size, as it came and decompressed, does not wait for others: hundreds of them are parsed in the time of one slice. */
export const shortBodyBytes: number = 4 * 1024;

/**
 * Size that any body may have after decompression, however short it was: a log whose lines differ only in their time
 * shrinks to a 400th.
 */
const alwaysUnpackedBytes = 4 * 1024 * 1024;

/**
 * Longest body in brotli. A thread may need 1.6 seconds for a megabyte of it that was made for that, which nothing can break off, and for
 * one of gzip 0.07.
 */
const maxBrotliBytes = 256 * 1024;

/** Who sent a body. Its signal aborts when it no longer waits for the answer. */
export type Sender = Pick<HttpRequest, "signal" | "callerNetwork">;

export type UnpackLimits = Pick<BindingSettings, "maxBodyBytes" | "maxCompressionRatio">;

/**
 * The bytes that a message is made of. All wires get them here, so that what is not short is decompressed and parsed in turns:
 * when this resolves, a body that is not short has its turn, and `body.release` ends it, after the message was made.
 *
 * @param bytes the message as it came
 * @throws ConnectError `BODY_TOO_LARGE` for what unpacks to too much, InvalidArgument for what is not of its coding; the signal's
 *   reason when the caller has gone while a body waited
 */
export function unpackBody(
  body: HttpBody,
  caller: Sender,
  bytes: Uint8Array,
  compression: Compression | undefined,
  limits: UnpackLimits,
): Uint8Array | Promise<Uint8Array> {
  if (compression === undefined || bytes.byteLength === 0) {
    return awaitTurnUnlessShort(body, caller, bytes);
  }
  return unpackCompressed(body, caller, bytes, compression, limits);
}

async function unpackCompressed(
  body: HttpBody,
  caller: Sender,
  bytes: Uint8Array,
  compression: Compression,
  { maxBodyBytes, maxCompressionRatio }: UnpackLimits,
): Promise<Uint8Array> {
  if (compression.name === "br" && bytes.byteLength > maxBrotliBytes) throw brotliTooLarge();
  const byRatio = Math.max(alwaysUnpackedBytes, Math.floor(maxCompressionRatio * bytes.byteLength));
  const maxBytes = Math.min(maxBodyBytes, byRatio);
  if (bytes.byteLength <= smallBodyBytes) {
    const mostBytes = Math.min(maxBytes, smallBodyBytes);
    const small = await decompress(caller, caller.callerNetwork, compression, bytes, mostBytes);
    if (small !== undefined) {
      return awaitTurnUnlessShort(body, caller, small, small.buffer.byteLength);
    }
    if (maxBytes <= smallBodyBytes) {
      throw bodyTooLarge(maxBytes);
    }
  }
  await awaitTurn(body, caller, maxBytes);
  const unpacked = await decompress(caller, body, compression, bytes, maxBytes);
  if (unpacked === undefined) {
    throw maxBytes === maxBodyBytes ? bodyTooLarge(maxBytes) : unpacksToTooMuch(maxCompressionRatio);
  }
  return unpacked;
}

/**
 * Thousands of bodies of some KiB are as many values as a large one, and may be there at the same moment.
 *
 * @param unpackedBytes memory that decompression has taken for the bytes
 */
function awaitTurnUnlessShort(
  body: HttpBody,
  caller: Sender,
  bytes: Uint8Array,
  unpackedBytes?: number,
): Uint8Array | Promise<Uint8Array> {
  return bytes.byteLength <= shortBodyBytes
    ? bytes
    : awaitTurn(body, caller, bytes.byteLength, unpackedBytes).then(() => bytes);
}

async function awaitTurn(body: HttpBody, caller: Sender, length: number, unpackedBytes = 0): Promise<void> {
  await body.turnBeforeMessage?.(length, caller.callerNetwork, unpackedBytes);
  caller.signal.throwIfAborted();
}

/** @returns undefined when there are more than `maxBytes`; the function stops there */
async function decompress(
  caller: Sender,
  turnOf: HttpBody | string | undefined,
  compression: Compression,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  try {
    caller.signal.throwIfAborted();
    return await inThreadTurn(turnOf, () => compression.decompress(bytes, maxBytes), caller.signal);
  } catch (thrown) {
    caller.signal.throwIfAborted();
    if (thrown instanceof ConnectError && thrown.code === Code.ResourceExhausted) {
      return undefined;
    }
    throw invalidParams({ field: "", description: `the request body is not valid ${compression.name}` });
  }
}

function brotliTooLarge(): ConnectError {
  const words = `a request body in brotli may have ${maxBrotliBytes} bytes at most; send it in gzip, or as it is`;
  return a2aError("BODY_TOO_LARGE", words, { maxBytes: String(maxBrotliBytes) });
}

function unpacksToTooMuch(maxRatio: number): ConnectError {
  return a2aError(
    "BODY_TOO_LARGE",
    `the request body unpacks to more than ${maxRatio} times its compressed length`,
    { maxCompressionRatio: String(maxRatio) },
  );
}
