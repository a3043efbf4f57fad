import { bodyTooLarge } from "@a2a-connect/core/internal";
import { type Compression, compressedFlag } from "@connectrpc/connect/protocol";
import { collectBytes, malformedRequest } from "../body.ts";
import type { HttpBody } from "../http.ts";
import { type Caller, type UnpackLimits, unpackBody } from "../unpack-body.ts";
import { prefixBytes } from "./envelope.ts";

/**
 * Reads the one message in the body of a call: takes it out of its envelope and decompresses it. A large message then
 * waits for its slice (see `unpackBody`).
 *
 * @param caller its signal ends the wait of a large message
 * @param compression how a compressed message is compressed, by the request's headers
 * @throws ConnectError `BODY_TOO_LARGE`; InvalidArgument when the body is not one whole message; the error of a broken
 *   connection
 */
export async function readEnvelope(
  body: HttpBody,
  caller: Caller,
  compression: Compression | null,
  limits: UnpackLimits,
): Promise<Uint8Array> {
  const bytes = await collectBytes(body, limits.maxBodyBytes + prefixBytes);
  if (bytes === undefined) {
    throw bodyTooLarge(limits.maxBodyBytes);
  }
  const message = bytes.subarray(prefixBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < prefixBytes || view.getUint32(1) !== message.byteLength) {
    throw malformedRequest("is not one complete message");
  }
  const flags = view.getUint8(0);
  if ((flags & ~compressedFlag) !== 0) {
    throw malformedRequest("has flags that are not known");
  }
  if (flags !== 0 && compression === null) {
    throw malformedRequest("is compressed, but its header does not say how");
  }
  return unpackBody(body, caller, message, flags === 0 ? undefined : (compression ?? undefined), limits);
}
