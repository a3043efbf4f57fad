import { methods } from "@a2a-connect/core";
import { type ConnectRouter, createConnectRouter, type ServiceImplSpec } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http.ts";
import { type BindingOptions, type BindingSettings, resolveOptions } from "../options.ts";
import { callDecoded, decodedCallInterceptor } from "./decoded-call.ts";
import { plainRpcError } from "./plain-error.ts";
import { withPlainStatusMessage } from "./status-message.ts";

/**
 * The server end of gRPC, gRPC-Web and Connect: one handler for each method, by its path (`/lf.a2a.v1.A2AService/…`).
 * They are Connect's own handlers; we read the requests, so that all wires refuse the same things alike.
 *
 * @param spec the implementation of A2AService, its gates included
 * @param register adds further services, such as `registerHealth` and `registerReflection`
 */
export function createRpcHandlers(
  spec: ServiceImplSpec,
  options: BindingOptions = {},
  register: (router: ConnectRouter) => void = () => {},
): ReadonlyMap<string, HttpHandler> {
  const settings = resolveOptions(options);
  const { maxBodyBytes, compressions, compressMinBytes, interceptors } = settings;
  const router = createConnectRouter({
    readMaxBytes: maxBodyBytes,
    acceptCompression: [...compressions],
    compressMinBytes,
    interceptors: [decodedCallInterceptor(settings, wireOf), ...interceptors],
  });
  const operations = Object.entries(spec.methods).map(([localName, { impl }]) => [localName, impl]);
  router.service(spec.service, Object.fromEntries(operations));
  register(router);
  return new Map(router.handlers.map((handler) => [handler.requestPath, adapt(handler, settings)]));
}

const ownPaths: ReadonlySet<string> = new Set(Object.values(methods).map(({ grpcPath }) => grpcPath));

function adapt(handler: UniversalHandler, settings: BindingSettings): HttpHandler {
  const call = ownPaths.has(handler.requestPath)
    ? (request: HttpRequest) => callDecoded(handler, request, settings)
    : (request: HttpRequest) => handler(request);
  return async (request) => withPlainStatusMessage(explainStatus(await call(request), handler));
}

/** Connect refuses what is no call at all with a bare status; say the rest. */
function explainStatus(
  response: UniversalServerResponse,
  { allowedMethods }: UniversalHandler,
): HttpResponse {
  if (response.body !== undefined || response.status < 400) {
    return response;
  }
  switch (response.status) {
    case 405:
      return plainRpcError(405, "this path is called with POST", { allow: allowedMethods.join(", ") });
    case 415:
      return plainRpcError(415, "the Content-Type must be one of gRPC, gRPC-Web or Connect", {
        "accept-post": "application/grpc, application/grpc-web, application/proto, application/json",
      });
    default:
      return plainRpcError(response.status, "this call needs HTTP/2", response.header);
  }
}

/** The protocol of a call by its headers. */
function wireOf(header: Headers): string {
  const type = header.get("content-type") ?? "";
  if (!type.startsWith("application/grpc")) {
    return "connect";
  }
  return type.startsWith("application/grpc-web") ? "grpc-web" : "grpc";
}
