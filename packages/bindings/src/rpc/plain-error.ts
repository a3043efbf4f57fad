import type { HttpRequest, HttpResponse } from "../http.ts";

const encoder = new TextEncoder();

/** An error of a request that is no call: JSON as Connect writes it, so that its clients read it. */
export function plainRpcError(status: number, message: string, headers?: HeadersInit): HttpResponse {
  const header = new Headers(headers);
  header.set("content-type", "application/json");
  return { status, header, body: encoder.encode(JSON.stringify({ code: "unimplemented", message })) };
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
