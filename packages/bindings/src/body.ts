import { a2aError, findA2AError, invalidParams } from "@a2a-connect/core";
import { bodyTooLarge, readAtMost } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { HttpBody, HttpRequest } from "./http.ts";
import { type Caller, type UnpackLimits, unpackBody } from "./unpack-body.ts";

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
  caller: Caller = request,
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
