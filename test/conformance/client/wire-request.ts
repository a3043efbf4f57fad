import { type MethodName, methodByName } from "@a2a-connect/core";
import { createRouteTable } from "@a2a-connect/core/internal";
import type { Wire } from "@a2a-connect/testing";
import { fromBinary, type JsonObject } from "@bufbuild/protobuf";

/** One operation as it arrived: what was on the wire, before anything of ours has read it. */
export interface WireRequest {
  readonly wire: Wire;
  readonly method: MethodName;
  /** HTTP method. */
  readonly verb: string;
  readonly httpVersion: string;
  /** With its query. */
  readonly path: string;
  readonly header: Headers;
  readonly body: Uint8Array;
}

/** Where JSON-RPC and HTTP+JSON are mounted. */
export const mounts = { jsonRpc: "/rpc", httpJson: "/rest" } as const;

const routes = createRouteTable();

/** What an HTTP request is a call of; undefined for whatever belongs to no wire. */
export function readWireRequest(
  {
    method: verb,
    url,
    header,
    httpVersion,
  }: Readonly<Record<"method" | "url" | "httpVersion", string>> & {
    readonly header: Headers;
  },
  body: Uint8Array,
): WireRequest | undefined {
  const { pathname, search } = new URL(url);
  const wire = wireOf(pathname, header.get("content-type") ?? "");
  const method = wire === undefined ? undefined : methodOf(wire, verb, pathname, body);
  return wire === undefined || method === undefined
    ? undefined
    : { wire, method, verb, httpVersion, path: pathname + search, header, body };
}

/** The tenants in a request, each with where it stands: `path: acme`. */
export function tenantsIn({ wire, method, verb, path, body }: WireRequest): readonly string[] {
  if (wire === "jsonrpc") {
    const params = parseObject(body)["params"];
    return isObject(params) && "tenant" in params ? [`params: ${params["tenant"]}`] : [];
  }
  if (wire === "http-json") {
    const { pathname, searchParams } = new URL(path, "http://localhost");
    const match = routes.find(verb, pathname.slice(mounts.httpJson.length));
    const inPath = match !== undefined && "variables" in match ? match.variables["tenant"] : undefined;
    const json = body.length === 0 ? {} : parseObject(body);
    return [
      ...(inPath === undefined ? [] : [`path: ${inPath}`]),
      ...searchParams.getAll("tenant").map((tenant) => `query: ${tenant}`),
      ...("tenant" in json ? [`body: ${json["tenant"]}`] : []),
    ];
  }
  const { input } = requireMethod(method).desc;
  const { tenant } = fromBinary(input, messageBytes({ wire, method, body })) as { tenant?: string }; // every request has the field
  return tenant === undefined || tenant === "" ? [] : [`message: ${tenant}`];
}

function wireOf(pathname: string, contentType: string): Wire | undefined {
  if (pathname === mounts.jsonRpc) return "jsonrpc";
  if (pathname.startsWith(`${mounts.httpJson}/`)) return "http-json";
  if (!pathname.startsWith("/lf.a2a.v1.A2AService/")) return undefined;
  if (contentType.startsWith("application/grpc-web")) return "grpc-web";
  return contentType.startsWith("application/grpc") ? "grpc" : "connect";
}

function methodOf(wire: Wire, verb: string, pathname: string, body: Uint8Array): MethodName | undefined {
  switch (wire) {
    case "jsonrpc":
      return methodByName(String(parseObject(body)["method"]))?.name;
    case "http-json": {
      const match = routes.find(verb, pathname.slice(mounts.httpJson.length));
      return match !== undefined && "method" in match ? match.method.name : undefined;
    }
    default:
      return methodByName(pathname.slice(pathname.lastIndexOf("/") + 1))?.name;
  }
}

/** The one message in the body of a binary wire. Connect puts it into an envelope only where there is a stream. */
function messageBytes({ wire, method, body }: Pick<WireRequest, "wire" | "method" | "body">): Uint8Array {
  const enveloped = wire !== "connect" || requireMethod(method).streaming;
  if (enveloped && body[0] !== 0) {
    throw new Error("the message is compressed");
  }
  return enveloped ? body.subarray(5) : body;
}

function requireMethod(name: MethodName) {
  const method = methodByName(name);
  if (method === undefined) throw new Error(`there is no ${name}`);
  return method;
}

function parseObject(body: Uint8Array): JsonObject {
  const json: unknown = JSON.parse(new TextDecoder().decode(body));
  if (!isObject(json)) throw new Error("the body is no JSON object");
  return json;
}

function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
