import {
  headerAcceptEncoding,
  headerEncoding,
  headerTimeout,
  parseContentType,
  parseTimeout,
} from "@connectrpc/connect/protocol-grpc";
import { jsonCodec, protoCodec } from "./codec.ts";
import { createEnvelopedProtocol } from "./enveloped.ts";
import type { RpcProtocol } from "./protocol.ts";
import { setStatus } from "./status-trailer.ts";

/** gRPC: the status is in HTTP's trailers. */
export const grpc: RpcProtocol = createEnvelopedProtocol({
  wire: "grpc",
  mediaType: "application/grpc+",
  encoding: headerEncoding,
  acceptEncoding: headerAcceptEncoding,
  timeout: headerTimeout,
  parseTimeout,
  httpTrailers: true,
  findCodec(contentType) {
    const type = parseContentType(contentType);
    return type && (type.binary ? protoCodec : jsonCodec);
  },
  finish(trailer, error) {
    setStatus(trailer, error);
    return undefined;
  },
});
