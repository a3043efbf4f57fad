import { toJson } from "@bufbuild/protobuf";
import { createSseCounter } from "../event-counter.ts";
import { encodeHttp1Request, openHttp1 } from "../http1-request.ts";
import type { LoadWire } from "../load-wire.ts";
import { openStalledReader } from "../stalled-reader.ts";

/** JSON-RPC over HTTP/1.1, streams as server-sent events. */
export const jsonRpcWire: LoadWire = {
  name: "JSON-RPC",
  shared: true,
  open: ({ httpPort }, count) => openHttp1(httpPort, count),
  openStalled: ({ httpPort }, request) => openStalledReader(httpPort, request),
  encode({ jsonRpcPath }, { name, desc, streaming }, request, fields) {
    const params = toJson(desc.input, request);
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params }));
    const accept = streaming ? "text/event-stream" : "application/json";
    const headers = { "content-type": "application/json", accept, ...fields };
    return encodeHttp1Request("POST", jsonRpcPath, headers, body);
  },
  createEventCounter: createSseCounter,
  decode(_method, body) {
    const envelope: unknown = JSON.parse(body.toString());
    if (typeof envelope !== "object" || envelope === null || !("result" in envelope)) {
      throw new Error(`no result in the answer: ${body.toString()}`);
    }
    return envelope.result;
  },
  isSuccess: (body) => body.includes('"result":'),
};
