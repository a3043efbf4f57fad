import {
  type BindingOptions,
  createHttpJsonHandler,
  createJsonRpcHandler,
  createRpcHandlers,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  refuseUnknownRpc,
  registerHealth,
  registerReflection,
} from "@a2a-connect/bindings";
import { A2AService } from "@a2a-connect/proto";
import { Health } from "@a2a-connect/proto/grpc/health/v1";
import type { ServiceImplSpec } from "@connectrpc/connect";
import type { Mounts } from "./card/interfaces.ts";
import { plainError } from "./plain-routes.ts";

/** What is mounted. */
export interface RouterOptions {
  readonly service: ServiceImplSpec;
  readonly mounts: Mounts;
  readonly wires: BindingOptions;
  /** The paths that belong to no wire. */
  readonly plain: ReadonlyMap<string, HttpHandler>;
  /** What the gRPC health service tells. */
  readonly serving: () => boolean;
}

/** Says which wire a request is for, by its path alone. Everything is answered in JSON or in the caller's protocol. */
export function createRouter({ service, mounts, wires, plain, serving }: RouterOptions): HttpHandler {
  const exact = new Map<string, HttpHandler>(mounts.rpc ? mountRpc(service, wires, serving) : []);
  for (const [path, page] of plain) {
    exact.set(path, readOnly(page));
  }
  if (mounts.jsonRpc !== undefined) {
    const jsonRpc = createJsonRpcHandler(service, wires);
    // With and without a trailing slash, and no redirect between them (requirement I-11).
    exact.set(mounts.jsonRpc, jsonRpc).set(`${mounts.jsonRpc}/`, jsonRpc);
  }
  const { httpJson: prefix } = mounts;
  const httpJson = prefix === undefined ? undefined : createHttpJsonHandler(service, { ...wires, prefix });
  return async (request) => {
    const path = pathOf(request);
    const handler = exact.get(path);
    if (handler !== undefined) {
      return handler(request);
    }
    if (httpJson !== undefined && path.startsWith(`${prefix}/`)) {
      return httpJson(request);
    }
    return refuseUnknownRpc(request) ?? notFound();
  };
}

function mountRpc(
  service: ServiceImplSpec,
  wires: BindingOptions,
  serving: () => boolean,
): ReadonlyMap<string, HttpHandler> {
  return createRpcHandlers(service, wires, (router) => {
    registerHealth(router, { serving, services: [A2AService] });
    registerReflection(router, { services: [A2AService, Health] });
  });
}

function readOnly(page: HttpHandler): HttpHandler {
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return plainError(405, "UNIMPLEMENTED", "only GET and HEAD are answered here", { allow: "GET, HEAD" });
    }
    const { body, ...head } = await page(request);
    return request.method === "HEAD" || body === undefined ? head : { ...head, body };
  };
}

function notFound(): HttpResponse {
  return plainError(
    404,
    "NOT_FOUND",
    "there is nothing here; the agent card is at /.well-known/agent-card.json",
  );
}

/** The path of an absolute URL as it stands, without building a URL object for every request. */
function pathOf({ url }: HttpRequest): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  return start === -1 ? "/" : url.slice(start, query === -1 ? undefined : query);
}
