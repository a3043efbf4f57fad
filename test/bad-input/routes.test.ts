import { describe, expect, it } from "vitest";
import type { RawRequest } from "./raw-call.ts";
import { serveTarget } from "./target.ts";
import { encodeCall, wires } from "./wires.ts";

const target = serveTarget({ protocolVersions: ["1.0"] });

const version = { "a2a-version": "1.0" };
const json = { ...version, "content-type": "application/json" };

/** Requirements K-7, K-11: JSON with the status of the line, never a page. */
describe("an unknown path", () => {
  for (const path of [
    "/nope",
    "/rest",
    "/rest/",
    "/rest/nope",
    "/rest/v1/acme/tasks",
    "/rest//tasks",
    "/rest/tasks/",
    "/rest/tasks/t/extra",
    "/rest/a/b/tasks",
    "/rest/message:nope",
    "/rest/tasks/:cancel",
    "/rest/tasks/%ff",
    "/rest/tasks/%zz",
    "/Rest/tasks",
    "/rest/TASKS",
    "/rpc/tasks",
    "/rpcx",
    "/lf.a2a.v1.A2AService",
    "/.well-known/agent.json",
    "/__proto__",
    "/constructor",
    "/rest/../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    `/${"x".repeat(8_000)}`,
  ]) {
    for (const http of [1, 2] as const) {
      it(`is 404 over HTTP/${http}: ${path.slice(0, 40)}`, async () => {
        const answer = await target.send({ http, verb: "GET", target: path, fields: version });
        expect(answer.status).toBe(404);
        expectErrorBody(answer, 404);
        await target.answersGoodCall();
      });
    }
  }
});

describe("a path that is called with another verb", () => {
  const rows: readonly (readonly [verb: string, path: string, allow: string])[] = [
    ["GET", "/rpc", "POST"],
    ["PUT", "/rpc", "POST"],
    ["DELETE", "/rpc/", "POST"],
    ["GET", "/rest/message:send", "POST, OPTIONS"],
    ["DELETE", "/rest/message:stream", "POST, OPTIONS"],
    ["PUT", "/rest/tasks", "GET, HEAD, OPTIONS"],
    ["POST", "/rest/tasks", "GET, HEAD, OPTIONS"],
    ["PATCH", "/rest/tasks/t-1", "GET, HEAD, OPTIONS"],
    ["GET", "/rest/tasks/t-1:cancel", "POST, OPTIONS"],
    ["DELETE", "/rest/tasks/t-1:subscribe", "GET, POST, HEAD, OPTIONS"],
    ["PUT", "/rest/acme/tasks", "GET, HEAD, OPTIONS"],
    ["POST", "/.well-known/agent-card.json", "GET, HEAD"],
    ["DELETE", "/", "GET, HEAD"],
    ["POST", "/healthz", "GET, HEAD"],
    ["POST", "/openapi.json", "GET, HEAD"],
    ["PUT", "/lf.a2a.v1.A2AService/SendMessage", "POST"],
    ["GET", "/lf.a2a.v1.A2AService/SendMessage", "POST"],
    ["PROPFIND", "/rest/tasks", "GET, HEAD, OPTIONS"],
  ];
  for (const [verb, path, allow] of rows) {
    for (const http of [1, 2] as const) {
      it(`is 405 over HTTP/${http}: ${verb} ${path}`, async () => {
        const answer = await target.send({ http, verb, target: path, fields: json });
        expect({ status: answer.status, allow: words(answer.fields.get("allow")) }).toEqual({
          status: 405,
          allow: words(allow),
        });
        expectErrorBody(answer, 405);
        await target.answersGoodCall();
      });
    }
  }
});

describe("a verb that HTTP does not know", () => {
  it("is refused as malformed over HTTP/1.1, whose parser wants to know it, and with 405 over HTTP/2", async () => {
    const brew = { verb: "BREW", target: "/rest/tasks", fields: version };
    const answer = await target.send({ http: 2, ...brew });
    expect(answer.status).toBe(405);
    expectErrorBody(answer, 405);
  });
});

describe("an unknown method", () => {
  for (const wire of wires.filter(({ protocol }) => protocol !== "http-json" && protocol !== "jsonrpc")) {
    for (const path of [
      "/lf.a2a.v1.A2AService/Nope",
      "/lf.a2a.v1.A2AService/sendMessage",
      "/lf.a2a.v1.A2AService/",
      "/a2a.v2.A2AService/SendMessage",
      "/nope.Service/Method",
      "/__proto__/constructor",
    ]) {
      it(`is Unimplemented over ${wire.name}: ${path}`, async () => {
        const request: RawRequest = { ...encodeCall(wire, { method: "ListTasks" }), target: path };
        if (wire.protocol !== "connect") {
          await target.refuses(wire, request, { error: "unknownMethod" });
          return;
        }
        const answer = await target.send(request);
        // Connect's clients read a 404 as Unimplemented, with or without a body of theirs.
        expect(answer.status).toBe(404);
        expect(answer.fields.get("content-type")).toBe("application/json");
        await target.answersGoodCall(wire);
      });
    }
  }
});

function words(list: string | null): readonly string[] {
  return (list ?? "").split(/, ?/).toSorted();
}

/** Either HTTP+JSON's shape of an error (E.3) or Connect's; never a page. */
function expectErrorBody({ fields, body }: { fields: Headers; body: Uint8Array }, status: number): void {
  expect(fields.get("content-type")).toMatch(/^application\/(a2a\+)?json$/);
  const content = JSON.parse(new TextDecoder().decode(body));
  if ("error" in content && "status" in content.error) expect(content.error.code).toBe(status);
  else if ("error" in content) expect(content).toMatchObject({ jsonrpc: "2.0", id: null });
  else expect(content).toMatchObject({ code: "unimplemented" });
}
