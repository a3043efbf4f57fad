import { A2AService } from "@a2a-connect/proto";
import { type DescMethod, fromJsonString, toBinary } from "@bufbuild/protobuf";
import { frame } from "./framing.ts";
import type { RawRequest } from "./raw-call.ts";

/** A wire's own rules: how it frames a request and what its errors look like. */
export type Protocol = "jsonrpc" | "http-json" | "grpc" | "grpc-web" | "connect";

/** A protocol with one of the encodings it has for messages. */
export interface Wire {
  readonly name: string;
  readonly protocol: Protocol;
  readonly codec: "json" | "proto";
  readonly http: 1 | 2;
}

/** All eight. */
export const wires: readonly Wire[] = [
  { name: "JSON-RPC", protocol: "jsonrpc", codec: "json", http: 1 },
  { name: "HTTP+JSON", protocol: "http-json", codec: "json", http: 1 },
  { name: "gRPC", protocol: "grpc", codec: "proto", http: 2 },
  { name: "gRPC with JSON", protocol: "grpc", codec: "json", http: 2 },
  { name: "gRPC-Web", protocol: "grpc-web", codec: "proto", http: 1 },
  { name: "gRPC-Web with JSON", protocol: "grpc-web", codec: "json", http: 1 },
  { name: "Connect", protocol: "connect", codec: "proto", http: 1 },
  { name: "Connect with JSON", protocol: "connect", codec: "json", http: 1 },
];

export const jsonWires: readonly Wire[] = wires.filter(({ codec }) => codec === "json");
export const protoWires: readonly Wire[] = wires.filter(({ codec }) => codec === "proto");

/** Operations that the tables call. */
export type MethodName = "SendMessage" | "SendStreamingMessage" | "GetTask" | "ListTasks";

/** One call of an operation, good or bad. */
export interface Call {
  readonly method: MethodName;
  /** The request message as ProtoJSON text. Also encoded as protobuf, unless `proto` is given. */
  readonly json?: string;
  /** The request message in protobuf encoding, or what pretends to be it. */
  readonly proto?: Uint8Array;
  /** Beside those that the call needs; undefined takes one away. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
  /** Service parameters in the query, such as `A2A-Version=1.0`. */
  readonly query?: string;
}

/** The encoded request message of a call. */
export function encodeMessage({ codec }: Wire, { method, json = "{}", proto }: Call): Uint8Array {
  if (codec === "json") return new TextEncoder().encode(json);
  if (proto !== undefined) return proto;
  const { input } = findMethod(method);
  return toBinary(input, fromJsonString(input, json, { ignoreUnknownFields: true }));
}

/** The HTTP request of a call. */
export function encodeCall(wire: Wire, call: Call): RawRequest {
  switch (wire.protocol) {
    case "jsonrpc":
      return jsonRpcRequest(call, new TextEncoder().encode(wrapParams(call)));
    case "http-json":
      return httpJsonRequest(call);
    default:
      return rpcRequest(wire, call, encodeMessage(wire, call));
  }
}

/**
 * A request to send a message, with these bytes where the request message belongs: the whole body of HTTP+JSON and
 * Connect, the only frame of gRPC. Of JSON-RPC they are the whole body.
 */
export function encodeBytes(wire: Wire, bytes: Uint8Array, fields: Call["fields"] = {}): RawRequest {
  const call: Call = { method: "SendMessage", fields };
  switch (wire.protocol) {
    case "jsonrpc":
      return jsonRpcRequest(call, bytes);
    case "http-json":
      return {
        http: 1,
        verb: "POST",
        target: "/rest/message:send",
        fields: mergeFields({ "content-type": "application/json" }, fields),
        body: bytes,
      };
    default:
      return rpcRequest(wire, call, bytes);
  }
}

/** The JSON-RPC envelope around a call's message. */
export function wrapParams({ method, json = "{}" }: Call): string {
  return `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${json}}`;
}

function jsonRpcRequest({ fields, query }: Call, body: Uint8Array): RawRequest {
  return {
    http: 1,
    verb: "POST",
    target: withQuery("/rpc", query),
    fields: mergeFields({ "content-type": "application/json" }, fields),
    body,
  };
}

/** The rows of requirements K that the tables use. */
function httpJsonRequest({ method, json = "{}", fields, query }: Call): RawRequest {
  if (method === "GetTask" || method === "ListTasks") {
    const { id, ...others }: Record<string, unknown> = JSON.parse(json);
    const path = method === "GetTask" ? `/rest/tasks/${encodeURIComponent(String(id))}` : "/rest/tasks";
    const parameters = new URLSearchParams(
      Object.entries(others).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const all = [query, parameters.toString()].filter(Boolean).join("&");
    return { http: 1, verb: "GET", target: withQuery(path, all), fields: mergeFields({}, fields) };
  }
  const path = method === "SendMessage" ? "/rest/message:send" : "/rest/message:stream";
  return {
    http: 1,
    verb: "POST",
    target: withQuery(path, query),
    fields: mergeFields({ "content-type": "application/a2a+json" }, fields),
    body: new TextEncoder().encode(json),
  };
}

function rpcRequest(wire: Wire, { method, fields, query }: Call, message: Uint8Array): RawRequest {
  return {
    http: wire.http,
    verb: "POST",
    target: withQuery(`/lf.a2a.v1.A2AService/${method}`, query),
    fields: mergeFields(rpcFields(wire, isStreaming(method)), fields),
    body: isFramed(wire, method) ? frame(message) : message,
  };
}

/** Whether the request message travels in a frame. */
export function isFramed({ protocol }: Wire, method: MethodName = "SendMessage"): boolean {
  return protocol === "grpc" || protocol === "grpc-web" || (protocol === "connect" && isStreaming(method));
}

function rpcFields({ protocol, codec }: Wire, streaming: boolean): Record<string, string> {
  switch (protocol) {
    case "grpc":
      return { "content-type": `application/grpc+${codec}`, te: "trailers" };
    case "grpc-web":
      return { "content-type": `application/grpc-web+${codec}`, "x-grpc-web": "1" };
    default:
      return {
        "content-type": `application/${streaming ? "connect+" : ""}${codec}`,
        "connect-protocol-version": "1",
      };
  }
}

function isStreaming(method: MethodName): boolean {
  return method === "SendStreamingMessage";
}

function mergeFields(own: Record<string, string>, given: Call["fields"] = {}): Record<string, string> {
  const all: Record<string, string | undefined> = { "a2a-version": "1.0", ...own, ...given };
  const present = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(present);
}

function withQuery(path: string, query: string | undefined): string {
  return query === undefined || query === "" ? path : `${path}?${query}`;
}

function findMethod(name: MethodName): DescMethod {
  const method = A2AService.methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`the proto has no ${name}`);
  return method;
}
