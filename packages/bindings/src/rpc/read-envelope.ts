import { bodyTooLarge } from "@a2a-connect/core";
import { type Compression, compressedFlag } from "@connectrpc/connect/protocol";
import { collectBytes, decompressBody } from "../body.ts";
import type { HttpRequest } from "../http.ts";
import type { BindingSettings } from "../options.ts";
import { prefixBytes } from "./envelope.ts";
import { malformedRequest, unlessRefused } from "./refusal.ts";

/**
 * Read the one message in the body of a call, out of its envelope and decompressed.
 *
 * @param compression how a compressed message is compressed, by the request's headers
 * @throws ConnectError `BODY_TOO_LARGE`; InvalidArgument for what is not one whole message
 */
export async function readEnvelope(
  { body }: HttpRequest,
  compression: Compression | null,
  { maxBodyBytes }: Pick<BindingSettings, "maxBodyBytes">,
): Promise<Uint8Array> {
  const bytes = await collectBytes(body, maxBodyBytes + prefixBytes);
  if (bytes === undefined) {
    throw bodyTooLarge(maxBodyBytes);
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
  if (flags === 0) {
    return message;
  }
  if (compression === null) {
    throw malformedRequest("is compressed, but its header does not say how");
  }
  return unlessRefused(await decompressBody(compression, message, maxBodyBytes));
}
