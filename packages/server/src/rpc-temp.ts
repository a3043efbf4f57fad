import type { BindingOptions, HttpHandler } from "@a2a-connect/bindings";
import { A2AService } from "@a2a-connect/proto";
import { createConnectRouter, type ServiceImplSpec } from "@connectrpc/connect";
export function createRpcHandlers(spec: ServiceImplSpec, options: BindingOptions): ReadonlyMap<string, HttpHandler> {
  const router = createConnectRouter({ acceptCompression: [...(options.compressions ?? [])] });
  const impl = Object.fromEntries(Object.entries(spec.methods).map(([k, m]) => [k, m.impl]));
  router.service(A2AService, impl as any);
  return new Map(router.handlers.map((h) => [h.requestPath, h as unknown as HttpHandler]));
}
export const withCors = (h: HttpHandler, _o: unknown): HttpHandler => h;
