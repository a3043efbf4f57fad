import { toJson } from "@bufbuild/protobuf";
import { encodeEnvelope } from "../envelope.ts";
import { createEnvelopeCounter } from "../event-counter.ts";
import { encodeHttp1Request, openHttp1 } from "../http1-request.ts";
import type { LoadWire } from "../load-wire.ts";
import { openStalledReader } from "../stalled-reader.ts";

/** Connect over HTTP/1.1 in JSON, as a browser page speaks it. */
export const connectWire: LoadWire = {
  name: "Connect",
  shared: false,
  open: ({ httpPort }, count) => openHttp1(httpPort, count),
  openStalled: ({ httpPort }, request) => openStalledReader(httpPort, request),
  encode(_target, { desc, grpcPath, streaming }, request, fields) {
    const message = Buffer.from(JSON.stringify(toJson(desc.input, request)));
    const headers = {
      ...fields,
      "connect-protocol-version": "1",
      "content-type": streaming ? "application/connect+json" : "application/json",
    };
    return encodeHttp1Request("POST", grpcPath, headers, streaming ? encodeEnvelope(message) : message);
  },
  createEventCounter: () => createEnvelopeCounter(0x02),
  decode: (_method, body) => JSON.parse(body.toString()) as unknown,
  // Whatever is not 200 has been thrown already.
  isSuccess: (body) => body.length > 0,
};
