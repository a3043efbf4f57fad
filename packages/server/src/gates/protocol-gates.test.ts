import { methods, tenantKey } from "@a2a-connect/core";
import { create } from "@bufbuild/protobuf";
import { createHandlerContext } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { heapOf } from "../../test-support/collect-garbage.ts";
import { tenantGate } from "./protocol-gates.ts";

it("a tenant that is kept keeps nothing of the URL that names it", () => {
  const gate = tenantGate(() => true);
  const method = methods.getTask;
  const count = 200;
  const tenantOfCall = (at: number): string => {
    const query = new URLSearchParams(`x=${`${at}`.padEnd(20_000, "x")}&tenant=tenant-number-${at}`);
    const request = create(method.desc.input, { tenant: query.get("tenant") ?? "" });
    const context = createHandlerContext({
      service: method.desc.parent,
      method: method.desc,
      protocolName: "test",
      requestMethod: "GET",
      url: "http://localhost/",
    });
    void gate({ method, request, context });
    return context.values.get(tenantKey);
  };
  expect(tenantOfCall(1)).toBe("tenant-number-1");
  const bytes = heapOf(() => Array.from({ length: count }, (_, at) => tenantOfCall(at)));
  expect(bytes / count).toBeLessThan(2_000);
});
