import { fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { encodeEnvelope, firstEnvelope, startsWithMessage } from "../envelope.ts";
import { createEnvelopeCounter } from "../event-counter.ts";
import { protocolVersion } from "../http1-request.ts";
import { Http2Connection } from "../http2-connection.ts";
import {
  encodeFrame,
  encodeHeaderBlock,
  encodePreface,
  frameFlag,
  frameType,
  numberExchange,
} from "../http2-frames.ts";
import type { LoadWire } from "../load-wire.ts";
import { openStalledReader } from "../stalled-reader.ts";

/** gRPC over cleartext HTTP/2: all calls are streams of one connection, as in a gRPC channel. */
export const grpcWire: LoadWire = {
  name: "gRPC",
  shared: true,
  async open({ grpcPort }, count) {
    const connection = await Http2Connection.open(grpcPort);
    return Array.from({ length: count }, () => connection);
  },
  openStalled: ({ grpcPort }, request) =>
    openStalledReader(grpcPort, Buffer.concat([encodePreface(), numberExchange(request, 1)])),
  encode(_target, { desc, grpcPath }, request, fields) {
    const header = encodeHeaderBlock({
      ":method": "POST",
      ":scheme": "http",
      ":path": grpcPath,
      ":authority": "127.0.0.1",
      "content-type": "application/grpc",
      te: "trailers",
      "a2a-version": protocolVersion,
      ...fields,
    });
    return Buffer.concat([
      encodeFrame(frameType.headers, frameFlag.endHeaders, header),
      encodeFrame(frameType.data, frameFlag.endStream, encodeEnvelope(toBinary(desc.input, request))),
    ]);
  },
  createEventCounter: () => createEnvelopeCounter(0x80),
  decode: ({ desc }, body) => toJson(desc.output, fromBinary(desc.output, firstEnvelope(body))),
  isSuccess: startsWithMessage,
};
