import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  headerAcceptEncoding,
  headerEncoding,
  headerTimeout,
  parseContentType,
  parseTimeout,
  trailerFlag,
  trailerSerialize,
} from "@connectrpc/connect/protocol-grpc-web";
import { jsonCodec, protoCodec } from "./codec.ts";
import { createEnvelopedProtocol } from "./enveloped.ts";
import type { RpcProtocol } from "./protocol.ts";
import { setStatus } from "./status-trailer.ts";

/** gRPC-Web: the trailers are in the last envelope of the body. Its base64 variant (`-text`) is not served. */
export const grpcWeb: RpcProtocol = createEnvelopedProtocol({
  wire: "grpc-web",
  mediaType: "application/grpc-web+",
  encoding: headerEncoding,
  acceptEncoding: headerAcceptEncoding,
  timeout: headerTimeout,
  parseTimeout,
  httpTrailers: false,
  findCodec(contentType) {
    const type = parseContentType(contentType);
    if (type === undefined || type.text) {
      return undefined;
    }
    return type.binary ? protoCodec : jsonCodec;
  },
  finish(trailer, error) {
    setStatus(trailer, error);
    return encodeEnvelope(trailerFlag, trailerSerialize(trailer));
  },
});
