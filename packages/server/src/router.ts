import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import {
  type BindingOptions,
  createHttpJsonHandler,
  createJsonRpcHandler,
  createRpcHandlers,
  refuseUnknownRpc,
  registerHealth,
  registerReflection,
} from "@a2a-connect/bindings/server";
import { A2AService } from "@a2a-connect/proto";
import { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import { TaskNotesService } from "@a2a-connect/proto/a2aconnect/notes/v1";
import { Health } from "@a2a-connect/proto/grpc/health/v1";
import type { ServiceImplSpec } from "@connectrpc/connect";
import type { Mounts } from "./card/interfaces.ts";
import { plainError, readOnly } from "./plain-routes.ts";

/** What to mount. */
export interface RouterOptions {
  readonly service: ServiceImplSpec;
  readonly mounts: Mounts;
  readonly wires: BindingOptions;
  /** The paths that belong to no wire; one that ends with `/*` stands for the files of a folder. */
  readonly plain: ReadonlyMap<string, HttpHandler>;
  /** The methods of a service beside A2A, by their paths. */
  readonly notes?: ReadonlyMap<string, HttpHandler>;
  /** Options of the gRPC health service. */
  readonly serving: () => boolean;
  /**
   * Whether the service has interceptors around its calls already. Those of `wires` then apply to health and reflection
   * only. Default false.
   */
  readonly interceptsItself?: boolean;
  /** The path before all others, such as `/agents/translator`; no trailing slash. Default none. */
  readonly below?: string;
  /** The hint in the answer to an unknown path. Default: the agent card's URL. */
  readonly signpost?: string;
}

/** Decides which wire a request is for, by its path alone. Every answer is JSON or in the caller's protocol. */
export function createRouter(options: RouterOptions): HttpHandler {
  const { service, mounts, plain, notes = new Map(), below = "" } = options;
  const { signpost = `the agent card is at ${below}/.well-known/agent-card.json` } = options;
  const wires = options.interceptsItself === true ? { ...options.wires, interceptors: [] } : options.wires;
  const exact = new Map<string, HttpHandler>(
    mounts.rpc ? [...createRpcHandlers(service, wires), ...mountTools(options)] : [],
  );
  for (const [path, page] of plain) {
    exact.set(below + path, readOnly(page));
  }
  for (const [path, handler] of notes) {
    exact.set(below + path, handler);
  }
  if (mounts.jsonRpc !== undefined) {
    const jsonRpc = createJsonRpcHandler(service, wires);
    // With and without a trailing slash, without a redirect between them (requirement I-11).
    exact.set(below + mounts.jsonRpc, jsonRpc).set(`${below}${mounts.jsonRpc}/`, jsonRpc);
  }
  const prefix = mounts.httpJson === undefined ? undefined : below + mounts.httpJson;
  const httpJson = prefix === undefined ? undefined : createHttpJsonHandler(service, { ...wires, prefix });
  return (request) => {
    const path = pathOf(request);
    const handler = exact.get(path);
    if (handler !== undefined) {
      return handler(request);
    }
    if (httpJson !== undefined && path.startsWith(`${prefix}/`)) {
      return httpJson(request);
    }
    return (
      exact.get(folderOf(path))?.(request) ?? Promise.resolve(refuseUnknownRpc(request) ?? notFound(signpost))
    );
  };
}

/** The services that gRPC tools use besides A2A. */
function mountTools({ wires, serving, notes }: RouterOptions): ReadonlyMap<string, HttpHandler> {
  return createRpcHandlers({ service: A2AService, methods: {} }, wires, (router) => {
    registerHealth(router, { serving, services: [A2AService] });
    registerReflection(router, {
      services: [
        A2AService,
        ...(wires.olderVersions === true ? [OlderService] : []),
        ...(notes === undefined ? [] : [TaskNotesService]),
        Health,
      ],
    });
  });
}

function notFound(signpost: string): HttpResponse {
  return plainError(404, "NOT_FOUND", `there is nothing here; ${signpost}`);
}

/** The key of all files of a path's folder. */
export function folderOf(path: string): string {
  return `${path.slice(0, path.lastIndexOf("/"))}/*`;
}

/** The path of an absolute URL, unchanged, without a URL object for every request. */
export function pathOf({ url }: HttpRequest): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  return start === -1 ? "/" : url.slice(start, query === -1 ? undefined : query);
}
