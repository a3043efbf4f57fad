import { methods } from "@a2a-connect/core";
import { A2AService, GetTaskRequestSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { createHandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { heapOf } from "../../test-support/collect-garbage.ts";
import { type AuditRecord, AuditTrail } from "./audit.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

function call(trail: AuditTrail, id: string, given: string) {
  const context = createHandlerContext({
    service: A2AService,
    method: A2AService.method.getTask,
    protocolName: "connect",
    requestMethod: "POST",
    url: "http://localhost/",
    requestHeader: new Headers({ traceparent: given }),
  });
  return trail.begin(methods.getTask, create(GetTaskRequestSchema, { id }), context);
}

describe("the trace of a call", () => {
  it.each([
    ["as it is", traceparent],
    ["with what a later version adds", `${traceparent.replace("00", "01")}-more`],
  ])("is read from its traceparent: %s", (_, given) => {
    const records: AuditRecord[] = [];
    call(new AuditTrail((record) => records.push(record), Date), "task", given).end();
    expect(records[0]?.traceId).toBe(traceId);
  });

  it.each([
    ["too long", `${traceparent}-${"x".repeat(1_000)}`],
    ["malformed at its end", `${traceparent}x`],
    ["zero", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
  ])("is a new one when that is %s", (_, given) => {
    const records: AuditRecord[] = [];
    call(new AuditTrail((record) => records.push(record), Date), "task", given).end();
    expect(records[0]?.traceId).toMatch(/^[\da-f]{32}$/);
    expect(records[0]?.traceId).not.toBe(traceId);
  });

  it("keeps neither the headers of the calls about a task in memory nor their whole ids", () => {
    const trail = new AuditTrail(() => {}, Date);
    const bytes = heapOf(() => {
      for (let task = 0; task < 1_000; task += 1) {
        const id = Buffer.from(`${task}`.padEnd(10_000, "x")).toString(); // flat, as a wire reads it
        call(
          trail,
          id,
          Buffer.from(`${traceparent}-${"x".repeat(task % 2 === 0 ? 200 : 20_000)}`).toString(),
        ).end();
      }
      return trail;
    });
    expect(bytes / 1_000).toBeLessThan(1_500);
  });
});
