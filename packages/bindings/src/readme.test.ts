import { createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { createHttpJsonHandler, createJsonRpcHandler, createRpcHandlers } from "@a2a-connect/bindings/server";
import { A2AService } from "@a2a-connect/proto";
import { createClient } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createFakeService } from "../test-support/fake-service.ts";
import { handlerFetch } from "../test-support/memory-http.ts";

it("the README's example works", async () => {
  const spec = createFakeService();

  const jsonRpc = createJsonRpcHandler(spec);
  const httpJson = createHttpJsonHandler(spec, { prefix: "/rest" });
  const rpc = createRpcHandlers(spec);

  const transport = createJsonRpcTransport({
    url: "http://localhost:4000/rpc",
    fetch: handlerFetch(jsonRpc),
  });
  const client = createClient(A2AService, transport);
  expect(await client.getTask({ id: "t-1" })).toMatchObject({ id: "t-1" });

  expect((await handlerFetch(httpJson)("http://localhost:4000/rest/tasks/t-1")).status).toBe(200);
  expect([...rpc.keys()]).toContain("/lf.a2a.v1.A2AService/GetTask");
});
