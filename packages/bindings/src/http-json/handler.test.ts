import { a2aError } from "@a2a-connect/core";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents } from "../../test-support/fake-service.ts";
import {
  memoryRequest,
  type RequestInit,
  responseJson,
  responseText,
} from "../../test-support/memory-http.ts";
import { createHttpJsonHandler, type HttpJsonOptions } from "./handler.ts";

const json = { "content-type": "application/json" };
const hello = JSON.stringify({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } });

function send(
  line: string,
  {
    service = createFakeService(),
    options = {} as HttpJsonOptions,
    ...init
  }: RequestInit & { service?: ReturnType<typeof createFakeService>; options?: HttpJsonOptions } = {},
) {
  const [method = "", path = ""] = line.split(" ");
  const header = init.header ?? (init.body === undefined ? {} : json);
  return createHttpJsonHandler(
    service,
    options,
  )(memoryRequest({ ...init, header, method, url: `http://localhost${path}` }));
}

describe("HTTP+JSON results", () => {
  for (const [line, body, want] of [
    ["POST /message:send", hello, { task: expect.objectContaining({ id: "t-1" }) }],
    ["POST /acme/message:send", hello, { task: expect.anything() }],
    ["GET /tasks/t-9", undefined, { id: "t-9", contextId: "c-1", status: { state: "TASK_STATE_WORKING" } }],
    ["GET /tasks/a%2Fb?historyLength=0&foo=1", undefined, expect.objectContaining({ id: "a/b" })],
    [
      "GET /tasks?pageSize=7&includeArtifacts=true&status=TASK_STATE_WORKING",
      undefined,
      { tasks: [], nextPageToken: "", pageSize: 7, totalSize: 0 },
    ],
    ["GET /tasks?page_size=8", undefined, expect.objectContaining({ pageSize: 8 })],
    [
      "POST /tasks/t-1:cancel",
      undefined,
      expect.objectContaining({ status: { state: "TASK_STATE_CANCELED" } }),
    ],
    ["POST /tasks/t-1:cancel", "", expect.objectContaining({ id: "t-1" })],
    ["POST /tasks/t-1:cancel", '{"metadata":{"why":null}}', expect.objectContaining({ id: "t-1" })],
    [
      "POST /tasks/t-1/pushNotificationConfigs",
      '{"url":"https://x.test/"}',
      { id: "config-1", taskId: "t-1", url: "https://x.test/" },
    ],
    ["GET /tasks/t-1/pushNotificationConfigs/c", undefined, expect.objectContaining({ id: "c" })],
    ["GET /tasks/t-1/pushNotificationConfigs", undefined, { configs: [expect.anything()] }],
    ["DELETE /tasks/t-1/pushNotificationConfigs/c", undefined, {}],
    ["GET /extendedAgentCard", undefined, expect.objectContaining({ name: "Fake" })],
  ] as const) {
    it(`${line} ${body ?? ""} answers with the bare response message`, async () => {
      const response = await send(line, body === undefined ? {} : { body });
      expect(await responseJson(response)).toEqual(want);
      expect(response.status).toBe(200);
    });
  }

  it("takes the tenant from path, query or body (P-3)", async () => {
    const tenants: string[] = [];
    const service = createFakeService({
      cancelTask: ({ tenant, id }) => {
        tenants.push(tenant);
        return { id };
      },
    });
    await send("POST /acme/tasks/t:cancel", { service });
    await send("POST /tasks/t:cancel?tenant=acme", { service });
    await send("POST /tasks/t:cancel", { service, body: '{"tenant":"acme"}' });
    expect(tenants).toEqual(["acme", "acme", "acme"]);
  });

  it("is not cached, unless the implementation says otherwise", async () => {
    const service = createFakeService({
      getExtendedAgentCard: (_, { responseHeader }) => {
        responseHeader.set("cache-control", "private, max-age=60");
        return {};
      },
    });
    expect((await send("GET /tasks/t")).header?.get("cache-control")).toBe("no-store");
    expect((await send("GET /extendedAgentCard", { service })).header?.get("cache-control")).toBe(
      "private, max-age=60",
    );
  });

  it("keeps its routes below a prefix", async () => {
    const options = { prefix: "/rest" };
    expect((await send("GET /rest/tasks/t", { options })).status).toBe(200);
    expect((await send("GET /tasks/t", { options })).status).toBe(404);
    expect((await send("GET /restful/tasks/t", { options })).status).toBe(404);
  });

  it("answers HEAD like GET without a body and OPTIONS with the verbs", async () => {
    const head = await send("HEAD /tasks/t");
    expect(head.status).toBe(200);
    expect(head.body).toBeUndefined();
    const options = await send("OPTIONS /tasks/t");
    expect(options.status).toBe(204);
    expect(options.header?.get("allow")).toBe("GET, HEAD, OPTIONS");
  });

  it("compresses a long answer", async () => {
    const response = await send(`GET /tasks/${"t".repeat(2000)}`, {
      options: { compressions: [compressionGzip] },
      header: { "accept-encoding": "br;q=1, gzip;q=0.5" },
    });
    expect(response.header?.get("content-encoding")).toBe("gzip");
  });
});

describe("HTTP+JSON media types (K-3, K-4)", () => {
  for (const [contentType, accept, option, want] of [
    ["application/json", undefined, undefined, "application/json"],
    ["application/a2a+json; charset=utf-8", undefined, "json", "application/a2a+json"],
    ["application/json", "application/a2a+json", undefined, "application/a2a+json"],
    ["application/a2a+json", "application/json", undefined, "application/json"],
    [undefined, "*/*", undefined, "application/a2a+json"],
    [undefined, "*/*", "json", "application/json"],
    [undefined, "application/json", undefined, "application/json"],
  ] as const) {
    it(`answers ${want} to Content-Type ${contentType}, Accept ${accept}, fallback ${option}`, async () => {
      const header = new Headers({
        ...(contentType && { "content-type": contentType }),
        ...(accept && { accept }),
      });
      const options = option === undefined ? {} : { jsonMedia: option };
      const success = await send("POST /tasks/t:cancel", {
        header,
        options,
        ...(contentType && { body: "{}" }),
      });
      const failure = await send("POST /nowhere", { header, options });
      expect(success.status).toBe(200);
      expect(success.header?.get("content-type")).toBe(want);
      expect(failure.header?.get("content-type")).toBe(want);
    });
  }
});

describe("HTTP+JSON errors (K-7)", () => {
  it("are none for a task whose name is a path of the URL", async () => {
    expect((await send("GET /tasks/..")).status).toBe(200);
  });

  it("say when to come back and who may come in", async () => {
    const later = new ConnectError("later", Code.Unavailable, undefined, [
      { desc: RetryInfoSchema, value: { retryDelay: { seconds: 2n, nanos: 1 } } },
    ]);
    const busy = await send("GET /tasks/t", {
      service: createFakeService({ getTask: () => Promise.reject(later) }),
    });
    expect([busy.status, busy.header?.get("retry-after")]).toEqual([503, "3"]);
    const who = new ConnectError("who", Code.Unauthenticated);
    const denied = await send("GET /tasks/t", {
      service: createFakeService({ getTask: () => Promise.reject(who) }),
    });
    expect([denied.status, denied.header?.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  it("say nothing about what they do not know, and log it", async () => {
    const logged: unknown[] = [];
    const secret = new Error("hunter2");
    const response = await send("GET /tasks/t", {
      service: createFakeService({ getTask: () => Promise.reject(secret) }),
      options: { onError: (...args) => logged.push(args) },
    });
    expect(await responseJson(response)).toEqual({
      error: { code: 500, status: "INTERNAL", message: "Internal error", details: [] },
    });
    expect(logged).toEqual([[secret, { wire: "http-json", method: "GetTask" }]]);
  });
});

describe("HTTP+JSON streams (K-1, K-8)", () => {
  for (const line of ["POST /tasks/t:subscribe", "GET /tasks/t:subscribe", "POST /acme/tasks/t:subscribe"]) {
    it(`${line} answers with bare events`, async () => {
      const response = await send(line);
      expect(response.header?.get("content-type")).toBe("text/event-stream");
      const events = (await responseText(response)).trimEnd().split("\n\n");
      expect(events[0]).toMatch(/^id: 7\ndata: \{"task":\{"id":"t",/);
      expect(events).toHaveLength(3);
    });
  }

  it("end with an error event when they break", async () => {
    const service = createFakeService({
      async *sendStreamingMessage() {
        yield* fakeEvents().slice(0, 1);
        throw a2aError("INVALID_AGENT_RESPONSE", "nonsense");
      },
    });
    const events = (await responseText(await send("POST /message:stream", { service, body: hello }))).split(
      "\n\n",
    );
    expect(JSON.parse(events[1]?.slice(6) ?? "")).toMatchObject({
      error: { code: 500, status: "INTERNAL", message: "nonsense" },
    });
  });
});
