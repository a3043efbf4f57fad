import { a2aError } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents } from "../../test-support/fake-service.ts";
import {
  memoryRequest,
  type RequestInit,
  responseJson,
  responseText,
} from "../../test-support/memory-http.ts";
import type { BindingOptions } from "../options.ts";
import { createJsonRpcHandler } from "./handler.ts";

const json = { "content-type": "application/json" };

async function post(
  body: string,
  { service = createFakeService(), options = {} as BindingOptions, init = {} as RequestInit } = {},
) {
  const response = await createJsonRpcHandler(
    service,
    options,
  )(memoryRequest({ header: json, body, ...init }));
  return { status: response.status, header: response.header, body: await responseJson(response) };
}

function call(method: string, params?: unknown, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

const hello = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } };

describe("JSON-RPC results", () => {
  for (const [method, params, want] of [
    ["SendMessage", hello, { task: expect.objectContaining({ id: "t-1" }) }],
    ["GetTask", { id: "t-9" }, { id: "t-9", contextId: "c-1", status: { state: "TASK_STATE_WORKING" } }],
    ["ListTasks", undefined, { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 }],
    ["ListTasks", { page_size: "5" }, { tasks: [], nextPageToken: "", pageSize: 5, totalSize: 0 }],
    ["CancelTask", { id: "t-1" }, expect.objectContaining({ status: { state: "TASK_STATE_CANCELED" } })],
    [
      "CreateTaskPushNotificationConfig",
      { taskId: "t-1", url: "https://x.test/" },
      expect.objectContaining({ id: "config-1" }),
    ],
    ["GetTaskPushNotificationConfig", { taskId: "t-1", id: "c" }, expect.objectContaining({ id: "c" })],
    [
      "ListTaskPushNotificationConfigs",
      { taskId: "t-1" },
      { configs: [expect.objectContaining({ id: "config-1" })] },
    ],
    ["DeleteTaskPushNotificationConfig", { taskId: "t-1", id: "c" }, {}],
    ["GetExtendedAgentCard", undefined, expect.objectContaining({ name: "Fake" })],
    ["GetExtendedAgentCard", null, expect.objectContaining({ name: "Fake" })],
  ] as const) {
    it(`${method} ${JSON.stringify(params)} answers with the bare response message (I-2, I-3)`, async () => {
      const { status, header, body } = await post(call(method, params));
      expect(body).toEqual({ jsonrpc: "2.0", id: 1, result: want });
      expect(status).toBe(200);
      expect(header?.get("content-type")).toBe("application/json");
    });
  }
});

// What it refuses, and how, is told over all wires by test/bad-input.

describe("JSON-RPC envelope", () => {
  it("takes an id of 512 characters, and refuses a longer one without repeating it", async () => {
    const long = await post(call("GetTask", { id: "t" }, "\u0001".repeat(512)));
    expect(long.body).toMatchObject({ id: "\u0001".repeat(512), result: {} });
    const { body } = await post(call("GetTask", { id: "t" }, "x".repeat(513)));
    expect(body).toMatchObject({ id: null, error: { code: -32600 } });
    expect(JSON.stringify(body)).toContain("has 513 characters; at most 512 are taken");
  });

  it("names the field of metadata that is nested 10,000 deep", async () => {
    const metadata = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
    const { body } = await post(
      `{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"t","metadata":${metadata}}}`,
    );
    expect(body).toMatchObject({
      error: { code: -32602, message: expect.stringMatching(/^Invalid parameters: metadata\.a\.a/) },
    });
  });
});

describe("JSON-RPC over HTTP", () => {
  for (const method of ["GET", "PUT", "DELETE", "HEAD", "OPTIONS"]) {
    it(`refuses ${method} with 405 and Allow`, async () => {
      const { status, header, body } = await post("", { init: { method } });
      expect(status).toBe(405);
      expect(header?.get("allow")).toBe("POST");
      expect(body).toMatchObject({ id: null, error: { code: -32600 } });
    });
  }

  it("refuses a declared length beyond the limit without reading the body", async () => {
    const request = memoryRequest({ header: { ...json, "content-length": "99" } });
    const body = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("was read")) }) };
    const response = await createJsonRpcHandler(createFakeService(), { maxBodyBytes: 98 })({
      ...request,
      body,
    });
    expect(response.status).toBe(413);
  });

  it("uses the runtime's way to collect a body", async () => {
    const bytes = new TextEncoder().encode(call("GetTask", { id: "t" }));
    const body = { ...memoryRequest().body, bytes: (max: number) => Promise.resolve(bytes.subarray(0, max)) };
    const response = await createJsonRpcHandler(createFakeService())({
      ...memoryRequest({ header: json }),
      body,
    });
    expect(await responseJson(response)).toHaveProperty("result.id", "t");
  });

  it("survives a connection that breaks while the body is read", async () => {
    const body = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("ECONNRESET")) }) };
    const response = await createJsonRpcHandler(createFakeService())({
      ...memoryRequest({ header: json }),
      body,
    });
    expect(await responseJson(response)).toMatchObject({
      error: { code: -32603, message: "Internal error" },
    });
  });
});

describe("JSON-RPC compression", () => {
  const options = { compressions: [compressionGzip, compressionBrotli] };
  const body = new TextEncoder().encode(call("GetTask", { id: "t".repeat(2000) }));

  for (const compression of options.compressions) {
    it(`takes and offers ${compression.name}`, async () => {
      const header = { ...json, "content-encoding": compression.name, "accept-encoding": compression.name };
      const request = memoryRequest({ header, body: [await compression.compress(body)] });
      const response = await createJsonRpcHandler(createFakeService(), options)(request);
      expect(response.header?.get("content-encoding")).toBe(compression.name);
      expect(response.header?.get("vary")).toContain("accept-encoding");
      const bytes = await compression.decompress(response.body as Uint8Array, 1e6); // unary bodies are bytes
      expect(JSON.parse(new TextDecoder().decode(bytes))).toHaveProperty("result.id", "t".repeat(2000));
    });
  }

  it("refuses an unknown coding with 415 and says which there are", async () => {
    const {
      status,
      header,
      body: answer,
    } = await post("x", { options, init: { header: { ...json, "content-encoding": "zstd" } } });
    expect(status).toBe(415);
    expect(header?.get("accept-encoding")).toBe("gzip, br, identity");
    expect(answer).toMatchObject({ error: { code: -32005 } });
  });
});

describe("JSON-RPC errors", () => {
  for (const [thrown, status, code] of [
    [
      new ConnectError("who are you", Code.Unauthenticated, { "www-authenticate": 'Bearer realm="a"' }),
      401,
      -32055,
    ],
    [new ConnectError("not you", Code.PermissionDenied), 403, -32056],
    [new ConnectError("later", Code.Unavailable), 200, -32603],
    [a2aError("CONTENT_TYPE_NOT_SUPPORTED", "no images"), 200, -32005],
  ] as const) {
    it(`answers ${Code[thrown.code]} with ${status} and ${code} (I-10)`, async () => {
      const service = createFakeService({ getTask: () => Promise.reject(thrown) });
      const answer = await post(call("GetTask", { id: "t" }), { service });
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({ error: { code, message: thrown.rawMessage } });
      expect(answer.header?.get("www-authenticate")).toBe(status === 401 ? 'Bearer realm="a"' : null);
    });
  }

  it("say nothing about what they do not know, and log it", async () => {
    const secret = new Error("password is hunter2");
    const logged: unknown[] = [];
    const service = createFakeService({
      getTask: () => {
        throw secret;
      },
    });
    const onError = (...args: unknown[]) => logged.push(args);
    const { status, body } = await post(call("GetTask", { id: "t" }), { service, options: { onError } });
    expect(body).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } });
    expect(status).toBe(200);
    expect(logged).toEqual([[secret, { wire: "jsonrpc", method: "GetTask" }]]);
  });
});

describe("JSON-RPC streams", () => {
  async function stream(
    service = createFakeService(),
    method = "SendStreamingMessage",
    params: unknown = hello,
  ) {
    return createJsonRpcHandler(service)(memoryRequest({ header: json, body: call(method, params, "s") }));
  }

  it("number their events from x-a2a-event-id", async () => {
    const response = await stream(undefined, "SubscribeToTask", { id: "t-1" });
    expect(response.header?.get("x-a2a-event-id")).toBe("7");
    expect((await responseText(response)).match(/^id: .*$/gm)).toEqual(["id: 7", "id: 8", "id: 9"]);
  });

  it("end with an error event when they break (I-7)", async () => {
    const response = await stream(
      createFakeService({
        async *sendStreamingMessage() {
          yield* fakeEvents().slice(0, 1);
          throw new Error("secret");
        },
      }),
    );
    const events = (await responseText(response)).split("\n\n");
    expect(events).toHaveLength(3);
    expect(events[1]).toBe(
      'data: {"jsonrpc":"2.0","id":"s","error":{"code":-32603,"message":"Internal error"}}',
    );
  });

  it("open and end when there is nothing to say", async () => {
    const response = await stream(createFakeService({ async *subscribeToTask() {} }), "SubscribeToTask", {
      id: "t",
    });
    expect(response.status).toBe(200);
    expect(response.header?.get("content-type")).toBe("text/event-stream");
    expect(await responseText(response)).toBe("");
  });
});
