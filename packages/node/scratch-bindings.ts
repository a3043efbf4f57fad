import { A2AService } from "@a2a-connect/proto";
import { Health } from "@a2a-connect/proto/grpc/health/v1";
import { createRpcHandlers, registerHealth, registerReflection, refuseUnknownRpc, createJsonRpcHandler, createHttpJsonHandler, withCors } from "@a2a-connect/bindings";
import { createFakeService } from "../bindings/src/harness/fake-service.ts";
import { listen } from "./src/index.ts";
const spec = createFakeService();
const rpc = createRpcHandlers(spec, {}, (router) => { registerHealth(router, { serving: () => true, services: [A2AService] }); registerReflection(router, { services: [A2AService, Health] }); });
const jr = createJsonRpcHandler(spec), hj = createHttpJsonHandler(spec, { prefix: "/rest" });
const l = await listen(withCors(async (request) => {
  const path = new URL(request.url).pathname;
  const h = rpc.get(path); if (h) return h(request);
  if (path === "/rpc") return jr(request);
  if (path.startsWith("/rest")) return hj(request);
  return refuseUnknownRpc(request) ?? { status: 404 };
}), { port: Number(process.env.PORT ?? 0) });
console.log(l.url);
