import type { HttpRequest, HttpResponse } from "../http.ts";

const encoder = new TextEncoder();

/** An error of a request that is no call: JSON as Connect writes it, so that its clients read it. */
export function plainRpcError(status: number, message: string, headers?: HeadersInit): HttpResponse {
  const header = new Headers(headers);
  header.set("content-type", "application/json");
  return { status, header, body: encoder.encode(JSON.stringify({ code: "unimplemented", message })) };
}

/** 405 for a verb that calls nothing. */
export function refuseVerb(allowed: readonly string[]): HttpResponse {
  return plainRpcError(405, "this path is called with POST", { allow: allowed.join(", ") });
}

/** 415 for a content type that is none of gRPC, gRPC-Web and Connect, or not for calls of this kind. */
export function refuseContentType(): HttpResponse {
  return plainRpcError(415, "the Content-Type must be one of gRPC, gRPC-Web or Connect", {
    "accept-post": "application/grpc, application/grpc-web, application/proto, application/json",
  });
}

/**
 * The answer to a call of a method that does not exist, in its own protocol: Unimplemented. For servers to ask before they
 * say 404.
 *
 * @returns undefined when the request is no gRPC, gRPC-Web or Connect call
 */
export function refuseUnknownRpc({
  header,
  url,
}: Pick<HttpRequest, "header" | "url">): HttpResponse | undefined {
  const type = header.get("content-type")?.toLowerCase() ?? "";
  if (type.startsWith("application/grpc")) {
    return {
      status: 200,
      header: new Headers({
        "content-type": type.startsWith("application/grpc-web")
          ? "application/grpc-web+proto"
          : "application/grpc",
        "grpc-status": "12",
        "grpc-message": "there is no such method",
      }),
    };
  }
  const connect =
    /^application\/(?:connect\+|proto\b)/.test(type) ||
    header.has("connect-protocol-version") ||
    url.includes("?connect=");
  return connect ? plainRpcError(404, "there is no such method") : undefined;
}
