import { a2aError, invalidParams } from "@a2a-connect/core";
import { bodyTooLarge } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { HttpBody, HttpRequest } from "./http.ts";
import type { BindingSettings } from "./options.ts";

/** Up to here a body, as it came and decompressed, waits for no other: hundreds of them are parsed in the time of one slice. */
const shortBodyBytes = 4 * 1024;

/** Up to here a body is decompressed without waiting for large ones. */
const smallBodyBytes = 64 * 1024;

/**
 * Size that any body may have after decompression, however short it was: a log whose lines differ only in their time
 * shrinks to a 400th.
 */
const alwaysUnpackedBytes = 4 * 1024 * 1024;

/** Bodies that are decompressed at a time: as many as Node has threads for it. */
const maxUnpacking = 4;

/** Aborts when the caller no longer waits for the answer. */
export type Caller = Pick<HttpRequest, "signal">;

export type UnpackLimits = Pick<BindingSettings, "maxBodyBytes" | "maxCompressionRatio">;

/**
 * The bytes that a message is made of. All wires get them here, so that what is not short is decompressed and parsed in turns:
 * when this resolves, the body has its turn, and `body.release` ends it, after the message was made.
 *
 * @param bytes the message as it came
 * @throws ConnectError `BODY_TOO_LARGE` for what unpacks to too much, InvalidArgument for what is not of its coding; the signal's
 *   reason when the caller has gone while a body waited
 */
export function unpackBody(
  body: HttpBody,
  caller: Caller,
  bytes: Uint8Array,
  compression: Compression | undefined,
  limits: UnpackLimits,
): Uint8Array | Promise<Uint8Array> {
  if (compression === undefined || bytes.byteLength === 0) {
    return unlessShort(body, caller, bytes);
  }
  return unpackCompressed(body, caller, bytes, compression, limits);
}

async function unpackCompressed(
  body: HttpBody,
  caller: Caller,
  bytes: Uint8Array,
  compression: Compression,
  { maxBodyBytes, maxCompressionRatio }: UnpackLimits,
): Promise<Uint8Array> {
  const byRatio = Math.max(alwaysUnpackedBytes, Math.floor(maxCompressionRatio * bytes.byteLength));
  const maxBytes = Math.min(maxBodyBytes, byRatio);
  if (bytes.byteLength <= smallBodyBytes) {
    const small = await decompress(compression, bytes, Math.min(maxBytes, smallBodyBytes));
    if (small !== undefined) {
      return unlessShort(body, caller, small);
    }
    if (maxBytes <= smallBodyBytes) {
      throw bodyTooLarge(maxBytes);
    }
  }
  const unpacked = await decompress(compression, await awaitTurn(body, caller, bytes, maxBytes), maxBytes);
  if (unpacked === undefined) {
    throw maxBytes === maxBodyBytes ? bodyTooLarge(maxBytes) : unpacksToTooMuch(maxCompressionRatio);
  }
  return unpacked;
}

/** Thousands of bodies of some KiB are as many values as a large one, and may be there at the same moment. */
function unlessShort(body: HttpBody, caller: Caller, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  return bytes.byteLength <= shortBodyBytes ? bytes : awaitTurn(body, caller, bytes, bytes.byteLength);
}

async function awaitTurn(
  body: HttpBody,
  caller: Caller,
  bytes: Uint8Array,
  length: number,
): Promise<Uint8Array> {
  await body.turn?.(length);
  caller.signal.throwIfAborted();
  return bytes;
}

let unpacking = 0;
const waiting: (() => void)[] = [];

/** @returns undefined when there are more than `maxBytes`; the function stops there */
async function decompress(
  compression: Compression,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (unpacking === maxUnpacking) {
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    unpacking += 1;
  }
  try {
    return await compression.decompress(bytes, maxBytes);
  } catch (thrown) {
    if (thrown instanceof ConnectError && thrown.code === Code.ResourceExhausted) {
      return undefined;
    }
    throw invalidParams({ field: "", description: `the request body is not valid ${compression.name}` });
  } finally {
    const next = waiting.shift();
    if (next === undefined) {
      unpacking -= 1;
    } else {
      next(); // it now counts among them
    }
  }
}

function unpacksToTooMuch(maxRatio: number): ConnectError {
  return a2aError(
    "BODY_TOO_LARGE",
    `the request body unpacks to more than ${maxRatio} times its compressed length`,
    { maxCompressionRatio: String(maxRatio) },
  );
}
