import { fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { encodeEnvelope, firstEnvelope, startsWithMessage } from "../envelope.ts";
import { createEnvelopeCounter } from "../event-counter.ts";
import { encodeHttp1Request, openHttp1 } from "../http1-request.ts";
import type { LoadWire } from "../load-wire.ts";
import { openStalledReader } from "../stalled-reader.ts";

/** gRPC-Web over HTTP/1.1. */
export const grpcWebWire: LoadWire = {
  name: "gRPC-Web",
  shared: false,
  open: ({ httpPort }, count) => openHttp1(httpPort, count),
  openStalled: ({ httpPort }, request) => openStalledReader(httpPort, request),
  encode(_target, { desc, grpcPath }, request, fields) {
    const headers = { "content-type": "application/grpc-web+proto", "x-grpc-web": "1", ...fields };
    return encodeHttp1Request("POST", grpcPath, headers, encodeEnvelope(toBinary(desc.input, request)));
  },
  createEventCounter: () => createEnvelopeCounter(0x80),
  decode: ({ desc }, body) => toJson(desc.output, fromBinary(desc.output, firstEnvelope(body))),
  isSuccess: startsWithMessage,
};
