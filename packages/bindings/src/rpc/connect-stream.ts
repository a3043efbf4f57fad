import type { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  endStreamFlag,
  endStreamToJson,
  headerStreamAcceptEncoding,
  headerStreamEncoding,
  headerTimeout,
  parseContentType,
  parseTimeout,
} from "@connectrpc/connect/protocol-connect";
import { jsonCodec, protoCodec } from "./codec.ts";
import { createEnvelopedProtocol } from "./enveloped.ts";
import type { RpcProtocol } from "./protocol.ts";

const encoder = new TextEncoder();

/** Connect for streams: error and trailers are JSON in the last envelope of the body. */
export const connectStream: RpcProtocol = createEnvelopedProtocol({
  wire: "connect",
  mediaType: "application/connect+",
  encoding: headerStreamEncoding,
  acceptEncoding: headerStreamAcceptEncoding,
  timeout: headerTimeout,
  parseTimeout,
  httpTrailers: false,
  findCodec(contentType) {
    const type = parseContentType(contentType);
    if (type === undefined || !type.stream) {
      return undefined;
    }
    return type.binary ? protoCodec : jsonCodec;
  },
  finish: (trailer, error) => endConnectStream(error, trailer),
});

/** The last envelope of a stream. */
export function endConnectStream(
  error: ConnectError | undefined,
  trailer: Headers = new Headers(),
): Uint8Array {
  const end = JSON.stringify(endStreamToJson(trailer, error, undefined));
  return encodeEnvelope(endStreamFlag, encoder.encode(end));
}
