import type { RpcMethod } from "@a2a-connect/core";
import { type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { createSseCounter } from "../event-counter.ts";
import { encodeHttp1Request, openHttp1 } from "../http1-request.ts";
import type { LoadWire } from "../load-wire.ts";
import { openStalledReader } from "../stalled-reader.ts";

/** HTTP+JSON over HTTP/1.1, streams as server-sent events. */
export const httpJsonWire: LoadWire = {
  name: "HTTP+JSON",
  shared: true,
  open: ({ httpPort }, count) => openHttp1(httpPort, count),
  openStalled: ({ httpPort }, request) => openStalledReader(httpPort, request),
  encode({ httpJsonPath }, method, request, fields) {
    const { verb, path, query, body } = toRestCall(method, request);
    const target = `${httpJsonPath}${path}${query === "" ? "" : `?${query}`}`;
    const accept = method.streaming ? "text/event-stream" : "application/json";
    const type = body === undefined ? {} : { "content-type": "application/json" };
    return encodeHttp1Request(verb, target, { ...type, accept, ...fields }, Buffer.from(body ?? ""));
  },
  createEventCounter: createSseCounter,
  decode: (_method, body) => JSON.parse(body.toString()) as unknown,
  // Whatever is not 200 has been thrown already.
  isSuccess: (body) => body.length > 0,
};

interface RestCall {
  readonly verb: string;
  readonly path: string;
  readonly query: string;
  readonly body: string | undefined;
}

function toRestCall({ name, desc, routes }: RpcMethod, request: Message): RestCall {
  const fields = toJson(desc.input, request) as JsonObject; // a message that is no well-known type
  const route = routes[0];
  const path = route?.expand(
    Object.fromEntries(route.variables.map((variable) => [variable, String(fields[variable])])),
  );
  if (route === undefined || path === undefined) {
    throw new Error(`${name} has no route for ${JSON.stringify(fields)}`);
  }
  const rest = Object.entries(fields).filter(([field]) => !route.variables.includes(field));
  if (route.body === undefined) {
    const query = new URLSearchParams(rest.map(([field, value]) => [field, String(value)])).toString();
    return { verb: route.verb, path, query, body: undefined };
  }
  return { verb: route.verb, path, query: "", body: JSON.stringify(Object.fromEntries(rest)) };
}
