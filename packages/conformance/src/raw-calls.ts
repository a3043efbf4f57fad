import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { type MethodLocalName, methods } from "@a2a-connect/core";
import { isObject } from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import { createClient } from "@connectrpc/connect";
import { expect } from "./expect.ts";
import type { Wire } from "./platform.ts";
import type { Stage } from "./scenario.ts";
import type { A2AClient, CallOptions, Target } from "./target.ts";

/** JSON as it is parsed: whether it has these members is what the tests look at. */
export interface RawObject {
  readonly [member: string]: unknown;
}

export interface RawMessage extends RawObject {
  readonly role: string;
  readonly metadata: unknown;
  readonly parts: readonly RawObject[];
}

export interface RawTask extends RawObject {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly timestamp: string };
  readonly history: readonly RawMessage[];
  readonly artifacts: readonly RawObject[];
}

/** All members that tests ask for, of any message. */
export interface RawResult extends RawTask {
  readonly task: RawTask;
  readonly tasks: readonly RawTask[];
  readonly pageSize: number;
  readonly totalSize: number;
  readonly configs: readonly RawObject[];
  readonly name: string;
}

/** An error of either wire. */
export interface RawError extends RawObject {
  readonly code: number;
  readonly message: string;
  readonly status: string;
  /** Of JSON-RPC. */
  readonly data?: readonly RawDetail[];
  /** Of HTTP+JSON. */
  readonly details?: readonly RawDetail[];
}

export interface RawDetail extends RawObject {
  readonly reason: string;
  readonly domain: string;
  readonly metadata: unknown;
  readonly fieldViolations: readonly { readonly field: string }[];
}

/** A JSON-RPC response, or the envelope of an HTTP+JSON error. */
export interface RawBody extends RawResult {
  readonly jsonrpc?: string;
  readonly result: RawResult;
  readonly error: RawError;
}

/** One event of a stream: a whole response over JSON-RPC. */
export interface RawEvent extends RawObject {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly result: RawObject;
}

/** A request message as it is written. */
export type RawRequest = Readonly<Record<string, unknown>>;

/** An answer of a JSON wire as it came. */
export interface RawAnswer {
  readonly status: number;
  readonly header: Headers;
  readonly text: string;
  /** The whole body. */
  readonly json: RawBody;
  /** The message in it: `result` of JSON-RPC, the body of HTTP+JSON. */
  readonly result: RawResult;
  /** The error in it, in the shape of its wire. */
  readonly error: RawError;
}

/** Headers of a request. */
export type RawHeaders = Readonly<Record<string, string>>;

const version = { "a2a-version": "1.0" };
const json = { "content-type": "application/json" };

/** A POST to the JSON-RPC endpoint; `body` is sent as it is when it is text. */
export async function postRpc(
  target: Target,
  body: unknown,
  headers: RawHeaders = {},
  path = "",
): Promise<RawAnswer> {
  const init = { method: "POST", headers: { ...version, ...json, ...headers }, body: toText(body) };
  return readAnswer(await target.fetchOn("jsonrpc", path, init));
}

/** A JSON-RPC call of `method`. */
export function callRpc(
  target: Target,
  method: string,
  params: unknown,
  headers?: RawHeaders,
): Promise<RawAnswer> {
  const tenant = target.tenant("jsonrpc");
  const named = tenant !== "" && isObject(params) ? { tenant, ...params } : params;
  return postRpc(target, { jsonrpc: "2.0", id: 1, method, params: named }, headers);
}

/** A request to the HTTP+JSON wire; `path` begins with a slash, and `body` is sent as it is when it is text. */
export async function callRest(
  target: Target,
  verb: string,
  path: string,
  body?: unknown,
  headers: RawHeaders = {},
): Promise<RawAnswer> {
  const content = body === undefined ? {} : { body: toText(body) };
  const all = { ...version, ...(body === undefined ? {} : json), ...headers };
  return readAnswer(await target.fetchOn("http-json", path, { ...content, method: verb, headers: all }));
}

function toText(body: unknown): BodyInit {
  return typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body); // of its own memory
}

/** A call of an operation on either JSON wire, with the members of its request as they are written here. */
export function callRaw(
  { wire, target }: Pick<Stage, "wire" | "target">,
  operation: MethodLocalName,
  request: RawRequest,
  headers?: RawHeaders,
): Promise<RawAnswer> {
  if (wire === "jsonrpc") return callRpc(target, methods[operation].name, request, headers);
  const { verb, path, body } = toRest(operation, request);
  return callRest(target, verb, path, body, headers);
}

/** Where the proto puts the members of a request over HTTP+JSON: into the path, and into the body or else the query. */
function toRest(operation: MethodLocalName, request: RawRequest) {
  const [route] = methods[operation].routes;
  if (route === undefined) throw new Error(`${operation} has no route`);
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const path = route.expand(Object.fromEntries(given.map(([name, value]) => [name, String(value)])));
  const { verb, variables } = route;
  const rest = given.filter(([name]) => !variables.includes(name));
  if (route.body !== undefined) return { verb, path: path ?? "", body: Object.fromEntries(rest) };
  const query = new URLSearchParams(rest.map(([name, value]) => [name, String(value)]));
  return { verb, path: `${path}${query.size === 0 ? "" : `?${query}`}` };
}

/** The same send on either JSON wire, with `message` and `configuration` as they are written here. */
export function sendRaw(stage: Stage, message: RawRequest, configuration?: RawRequest): Promise<RawAnswer> {
  return callRaw(stage, "sendMessage", { message, configuration });
}

/**
 * A call of a unary operation on any wire but gRPC, for what has to go past clients: the path below the address of the wire, and
 * the request. Over gRPC-Web the message is empty.
 */
export function writeCall(
  wire: Wire,
  operation: MethodLocalName,
  request: RawRequest,
  headers: RawHeaders,
): readonly [path: string, init: RequestInit] {
  if (wire === "grpc") throw new Error("over gRPC there is callGrpc");
  const { name, grpcPath } = methods[operation];
  const post = (path: string, body: unknown, type = json): readonly [string, RequestInit] => [
    path,
    { method: "POST", headers: { ...type, ...headers }, body: toText(body) },
  ];
  if (wire === "jsonrpc") return post("", { jsonrpc: "2.0", id: 1, method: name, params: request });
  if (wire === "connect") return post(grpcPath, request);
  if (wire === "grpc-web") {
    return post(grpcPath, new Uint8Array(5), { "content-type": "application/grpc-web+proto" });
  }
  const { verb, path, body } = toRest(operation, request);
  return body === undefined ? [path, { method: verb, headers }] : post(path, body);
}

/** Our own client of a JSON wire, whose peer is `fetch`. */
export function clientOfPeer(wire: Wire, fetch: typeof globalThis.fetch): A2AClient {
  const url = "http://peer.invalid";
  return createClient(
    A2AService,
    wire === "jsonrpc"
      ? createJsonRpcTransport({ url, fetch })
      : createHttpJsonTransport({ baseUrl: url, fetch }),
  );
}

/** What a JSON wire answered to a call of our own client, whether that failed or not. */
export async function capture(
  { target, wire }: Pick<Stage, "target" | "wire">,
  call: (client: A2AClient) => Promise<unknown>,
  options: CallOptions = {},
): Promise<RawAnswer> {
  let seen: Response | undefined;
  const client = target.client(wire, {
    ...options,
    onResponse: (response) => {
      seen = response;
    },
  });
  await call(client).catch(() => undefined);
  if (seen === undefined) {
    throw new Error("nothing was sent");
  }
  return readAnswer(seen);
}

/** The JSON of every event of an SSE text, and every other line, which must be empty or a comment or an id. */
export function readSse(text: string): RawEvent[] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
  return lines
    .filter((line) => !line.startsWith("id: "))
    .map((line) => {
      expect(line.slice(0, 6)).toBe("data: ");
      return JSON.parse(line.slice(6));
    });
}

/** The JSON of every event of an SSE text, in any spelling that the standard of HTML allows. */
export function readAnySse(text: string): RawEvent[] {
  const blocks = text.replace(/^\uFEFF/, "").split(/(?:\r\n|\r|\n){2,}/);
  return blocks.flatMap((block) => {
    const data = block.split(/\r\n|\r|\n/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
    return data.length === 0 ? [] : [JSON.parse(data.join("\n"))];
  });
}

/** The names of all members in a JSON value, without those that users chose. */
export function memberNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(memberNames);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    ["metadata", "data", "params"].includes(name) ? [name] : [name, ...memberNames(member)],
  );
}

/** Reads an answer; a body that is no JSON has no members. */
export async function readAnswer(response: Response): Promise<RawAnswer> {
  const { status, headers: header } = response;
  const text = await response.text();
  const json = parse(text);
  return {
    status,
    header,
    text,
    json,
    result: json.jsonrpc === undefined ? json : json.result,
    error: json.error,
  };
}

const noMembers: RawBody = JSON.parse("{}");

function parse(text: string): RawBody {
  try {
    return JSON.parse(text) ?? noMembers;
  } catch {
    return noMembers;
  }
}
