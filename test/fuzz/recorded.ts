import { gzipSync } from "node:zlib";
import { methodByName, type RpcMethod } from "@a2a-connect/core";
import { httpRequestParts } from "@a2a-connect/core/internal";
import { create, type DescMessage, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { frame } from "../bad-input/framing.ts";
import { type Wire, wires } from "../bad-input/wires.ts";
import type { Entry } from "./entry.ts";
import { editJson, type JsonEdit } from "./json-edits.ts";
import { editProtobuf, type ProtobufEdit } from "./protobuf-edits.ts";

/** A good request, and what it becomes when its message changes. */
export interface Recorded {
  readonly wire: Wire;
  readonly method: RpcMethod;
  /** The request with its message changed: by the edits of its codec, and then compressed or not. */
  make(edits: Edits): Entry;
}

export interface Edits {
  readonly json: readonly JsonEdit[];
  readonly protobuf: readonly ProtobufEdit[];
  readonly compressed: boolean;
}

/** A request message with nearly every field that it may have. */
const message: JsonValue = {
  messageId: "m-1",
  role: "ROLE_USER",
  parts: [
    { text: "ordinary text", mediaType: "text/plain", filename: "a.txt", metadata: { a: [1, { b: null }] } },
    { data: { a: [1.5, true, null, "é"], b: {} } },
    { raw: "AAECAw==", mediaType: "application/octet-stream" },
    { url: "https://example.com/file", mediaType: "text/plain" },
  ],
  metadata: { "urn:a": { b: "c" } },
  extensions: ["urn:x"],
  referenceTaskIds: ["t-0"],
};

const sendRequest: JsonValue = {
  message,
  configuration: { acceptedOutputModes: ["text/plain"], historyLength: 2, returnImmediately: false },
  metadata: { a: "b" },
};

const messages: Readonly<Record<string, JsonValue>> = {
  SendMessage: sendRequest,
  SendStreamingMessage: sendRequest,
  GetTask: { id: "id-1", historyLength: 1 },
  ListTasks: {
    contextId: "id-2",
    status: "TASK_STATE_COMPLETED",
    pageSize: 2,
    statusTimestampAfter: "2026-01-31T12:00:00.5Z",
    includeArtifacts: true,
  },
  CancelTask: { id: "id-1", metadata: { a: 1 } },
  SubscribeToTask: { id: "id-1" },
  CreateTaskPushNotificationConfig: {
    taskId: "id-1",
    id: "p-1",
    url: "https://example.com/hook",
    token: "secret",
    authentication: { scheme: "Bearer", credentials: "abc" },
  },
  ListTaskPushNotificationConfigs: { taskId: "id-1", pageSize: 1 },
  GetExtendedAgentCard: {},
};

/** Each operation with a request message. */
export const requests: readonly { readonly method: RpcMethod; readonly json: JsonValue }[] = Object.entries(
  messages,
).map(([name, json]) => {
  const method = methodByName(name);
  if (method === undefined) throw new Error(`there is no method ${name}`);
  return { method, json };
});

/** Each of these operations over each wire and codec. */
export const recorded: readonly Recorded[] = wires.flatMap((wire) =>
  requests.map(({ method, json }) => ({
    wire,
    method,
    make: (edits: Edits) => makeRequest(wire, method, json, edits),
  })),
);

function makeRequest(wire: Wire, method: RpcMethod, json: JsonValue, edits: Edits): Entry {
  switch (wire.protocol) {
    case "jsonrpc": {
      const envelope = { jsonrpc: "2.0", id: 7, method: method.name, params: json };
      const body = Buffer.from(editJson(envelope, edits.json));
      return compressBody(post("/rpc", { "content-type": "application/json" }, body), edits);
    }
    case "http-json": {
      const desc: DescMessage = method.desc.input;
      const { verb, path, query, body } = httpRequestParts(method, fromJson(desc, json));
      const parameters = query.size === 0 ? "" : `?${query}`;
      const target = `/rest${path}${parameters}`;
      if (body === undefined) {
        return { http: 1, verb, target, fields: { "a2a-version": "1.0" }, body: new Uint8Array() };
      }
      const text = Buffer.from(editJson(body, edits.json));
      return compressBody(post(target, { "content-type": "application/a2a+json" }, text), edits);
    }
    default:
      return makeRpcRequest(wire, method, encode(wire, method, json, edits), edits);
  }
}

function encode({ codec }: Wire, method: RpcMethod, json: JsonValue, edits: Edits): Uint8Array {
  const desc: DescMessage = method.desc.input;
  return codec === "json"
    ? Buffer.from(editJson(json, edits.json))
    : editProtobuf(desc, toBinary(desc, create(desc, fromJson(desc, json))), edits.protobuf);
}

function makeRpcRequest(wire: Wire, method: RpcMethod, bytes: Uint8Array, edits: Edits): Entry {
  const { protocol, codec } = wire;
  const isConnect = protocol === "connect";
  const isFramed = !isConnect || method.streaming;
  const mediaType = isConnect ? (method.streaming ? "connect+" : "") : `${protocol}+`;
  const fields = {
    "content-type": `application/${mediaType}${codec}`,
    ...(protocol === "grpc" ? { te: "trailers" } : {}),
    ...(isConnect ? { "connect-protocol-version": "1" } : {}),
  };
  if (!isFramed) return compressBody({ ...post(method.grpcPath, fields, bytes), http: wire.http }, edits);
  const coding = isConnect ? "connect-content-encoding" : "grpc-encoding";
  const request = edits.compressed
    ? post(method.grpcPath, { ...fields, [coding]: "gzip" }, frame(gzipSync(bytes), 1))
    : post(method.grpcPath, fields, frame(bytes));
  return { ...request, http: wire.http };
}

function post(target: string, fields: Record<string, string>, body: Uint8Array): Entry {
  return { http: 1, verb: "POST", target, fields: { "a2a-version": "1.0", ...fields }, body };
}

function compressBody(entry: Entry, { compressed }: Edits): Entry {
  return compressed
    ? { ...entry, fields: { ...entry.fields, "content-encoding": "gzip" }, body: gzipSync(entry.body) }
    : entry;
}
