import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import type { HttpRequest, HttpResponse } from "../http.ts";
import { refuseOlderRpc } from "../older-protocol.ts";
import { setStatus } from "./status-trailer.ts";

/** The error for a request that is not a call: JSON in Connect's form, so that Connect's clients can read it. */
export function plainRpcError(status: number, message: string, headers?: HeadersInit): HttpResponse {
  return connectError(status, new ConnectError(message, Code.Unimplemented), headers);
}

/** 405 for a verb that cannot make a call. */
export function refuseVerb(allowed: readonly string[]): HttpResponse {
  return plainRpcError(405, "this path is called with POST", { allow: allowed.join(", ") });
}

/** 415 for a content type that does not belong to gRPC, gRPC-Web or Connect, or not to calls of this kind. */
export function refuseContentType(): HttpResponse {
  return plainRpcError(415, "the Content-Type must be one of gRPC, gRPC-Web or Connect", {
    "accept-post": "application/grpc, application/grpc-web, application/proto, application/json",
  });
}

/**
 * The answer to a call of a method that does not exist, in the call's protocol: Unimplemented. A server asks for it
 * before it sends 404. A call of A2A 0.3 is told which version to use.
 *
 * @returns undefined when the request is not a gRPC, gRPC-Web or Connect call
 */
export function refuseUnknownRpc(request: Pick<HttpRequest, "header" | "url">): HttpResponse | undefined {
  const older = refuseOlderRpc(request);
  return older === undefined ? refuseRpc(request, unknownMethod, 404) : refuseRpc(request, older, 400);
}

const unknownMethod = new ConnectError("there is no such method", Code.Unimplemented);

/**
 * Refuses a call in its own protocol, without reading it. gRPC and gRPC-Web get the error's code and message in their
 * status, with HTTP's 200 as always. Connect gets `status`, for which its codes have no name.
 *
 * @returns undefined when the request is not a gRPC, gRPC-Web or Connect call
 */
export function refuseRpc(
  { header, url }: Pick<HttpRequest, "header" | "url">,
  error: ConnectError,
  status: number,
): HttpResponse | undefined {
  const type = header.get("content-type")?.toLowerCase() ?? "";
  if (type.startsWith("application/grpc")) {
    const isWeb = type.startsWith("application/grpc-web");
    const answer = new Headers({ "content-type": isWeb ? "application/grpc-web+proto" : "application/grpc" });
    setStatus(answer, error);
    return { status: 200, header: answer };
  }
  const connect =
    /^application\/(?:connect\+|proto\b)/.test(type) ||
    header.has("connect-protocol-version") ||
    url.includes("?connect=");
  return connect ? connectError(status, error) : undefined;
}

function connectError(status: number, error: ConnectError, headers?: HeadersInit): HttpResponse {
  const header = new Headers(headers);
  header.set("content-type", "application/json");
  return { status, header, body: JSON.stringify(errorToJson(error, undefined)) };
}
