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

  for (const id of ["a", "", 0, 7, -3, null]) {
    it(`echoes the id ${JSON.stringify(id)} (I-2, I-9)`, async () => {
      expect((await post(call("GetTask", { id: "t" }, id))).body).toMatchObject({ id });
    });
  }

  it("sends the headers that the implementation sets (G-5)", async () => {
    const service = createFakeService({
      getTask: (_, { responseHeader }) => {
        responseHeader.set("A2A-Extensions", "urn:x");
        return { id: "t" };
      },
    });
    expect((await post(call("GetTask", { id: "t" }), { service })).header?.get("a2a-extensions")).toBe(
      "urn:x",
    );
  });
});

describe("JSON-RPC envelope", () => {
  for (const [name, body, id, code, field] of [
    ["no JSON", "{", null, -32700, ""],
    ["nothing", "", null, -32700, ""],
    ["invalid UTF-8", "\xff", null, -32700, ""],
    ["100,000 open brackets", "[".repeat(100_000), null, -32700, ""],
    [
      "a member twice",
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"a"},"params":{"id":"b"}}',
      null,
      -32700,
      "",
    ],
    ["a batch (I-8)", `[${call("GetTask")}]`, null, -32600, ""],
    ["an empty batch (I-8)", "[]", null, -32600, ""],
    ["null", "null", null, -32600, ""],
    ["a string", '"GetTask"', null, -32600, ""],
    ["a notification (I-9)", '{"jsonrpc":"2.0","method":"GetTask"}', null, -32600, "id"],
    ["a fractional id", call("GetTask", {}, 1.5), null, -32600, "id"],
    [
      "an id too large to echo",
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask"}',
      null,
      -32600,
      "id",
    ],
    ["a boolean id", call("GetTask", {}, true), null, -32600, "id"],
    ["an object as id", call("GetTask", {}, {}), null, -32600, "id"],
    ["no version", '{"id":1,"method":"GetTask"}', 1, -32600, "jsonrpc"],
    ["version 1.0", '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', 1, -32600, "jsonrpc"],
    ["no method", '{"jsonrpc":"2.0","id":1}', 1, -32600, "method"],
    ["a method that is no string", '{"jsonrpc":"2.0","id":1,"method":5}', 1, -32600, "method"],
    ["params by position", call("GetTask", ["t"]), 1, -32602, "params"],
    ["params that are a string", call("GetTask", "t"), 1, -32602, "params"],
    ["a wrong-typed field", call("GetTask", { id: 5 }), 1, -32602, "id"],
    ["an unknown enum name", call("ListTasks", { status: "TASK_STATE_RUNNING" }), 1, -32602, "status"],
    [
      "both spellings of a field",
      call("GetTask", { id: "t", historyLength: 1, history_length: 1 }),
      1,
      -32602,
      "historyLength",
    ],
    [
      "a part with two members",
      call("SendMessage", { message: { parts: [{ text: "a", url: "b" }] } }),
      1,
      -32602,
      "message.parts[0]",
    ],
    [
      "bad base64",
      call("SendMessage", { message: { parts: [{ raw: "%%" }] } }),
      1,
      -32602,
      "message.parts[0].raw",
    ],
    [
      "a __proto__ key",
      '{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"metadata":{"__proto__":1}}}',
      1,
      -32602,
      "metadata.__proto__",
    ],
  ] as const) {
    it(`refuses ${name} with ${code}`, async () => {
      const bytes = Uint8Array.from(body, (character) => character.charCodeAt(0));
      const answer = await post("", { init: { body: [bytes] } });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        jsonrpc: "2.0",
        id,
        error: {
          code,
          message: expect.stringMatching(/\w/),
          data: [
            // The numbers of the envelope are JSON-RPC's own; params have a reason as on the other wires.
            ...(code === -32602 ? [expect.objectContaining({ reason: "INVALID_PARAMS" })] : []),
            expect.objectContaining({
              fieldViolations: [{ ...(field === "" ? {} : { field }), description: expect.any(String) }],
            }),
          ],
        },
      });
    });
  }

  it("names the field of metadata that is nested 10,000 deep", async () => {
    const metadata = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
    const { body } = await post(
      `{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"t","metadata":${metadata}}}`,
    );
    expect(body).toMatchObject({
      error: { code: -32602, message: expect.stringMatching(/^Invalid parameters: metadata\.a\.a/) },
    });
  });

  it("answers an unknown method with -32601 (I-13)", async () => {
    const { status, body } = await post(call("tasks/nope", {}, "x"));
    expect(body).toMatchObject({
      id: "x",
      error: { code: -32601, message: expect.stringMatching(/^Method not found/) },
    });
    expect(status).toBe(200);
  });
});

describe("JSON-RPC over HTTP", () => {
  for (const type of ["application/json; charset=utf-8", "Application/JSON"]) {
    it(`takes ${type} (I-1)`, async () => {
      const { body } = await post(call("GetTask", { id: "t" }), {
        init: { header: { "content-type": type } },
      });
      expect(body).toHaveProperty("result");
    });
  }

  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonx",
    "nonsense",
    undefined,
  ]) {
    it(`refuses the content type ${type} with 415 and -32005 (I-10)`, async () => {
      const header = type === undefined ? {} : { "content-type": type };
      const { status, body } = await post(call("GetTask", { id: "t" }), { init: { header } });
      expect(status).toBe(415);
      expect(body).toMatchObject({
        id: null,
        error: { code: -32005, data: [{ reason: "CONTENT_TYPE_NOT_SUPPORTED" }] },
      });
    });
  }

  for (const method of ["GET", "PUT", "DELETE", "HEAD", "OPTIONS"]) {
    it(`refuses ${method} with 405 and Allow`, async () => {
      const { status, header, body } = await post("", { init: { method } });
      expect(status).toBe(405);
      expect(header?.get("allow")).toBe("POST");
      expect(body).toMatchObject({ id: null, error: { code: -32600 } });
    });
  }

  it("takes a body of exactly the limit and refuses one byte more with 413", async () => {
    const body = call("GetTask", { id: "t" });
    const exact = await post(body, { options: { maxBodyBytes: body.length } });
    const over = await post(body, { options: { maxBodyBytes: body.length - 1 } });
    expect(exact.body).toHaveProperty("result");
    expect(over.status).toBe(413);
    expect(over.body).toMatchObject({
      id: null,
      error: { code: -32051, data: [{ reason: "BODY_TOO_LARGE" }] },
    });
  });

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

  it("refuses bytes that are not what their coding says as no JSON", async () => {
    const { body: answer } = await post("nonsense", {
      options,
      init: { header: { ...json, "content-encoding": "gzip" } },
    });
    expect(answer).toMatchObject({ id: null, error: { code: -32700 } });
  });

  it("refuses a bomb with 413", async () => {
    const bomb = await compressionGzip.compress(new Uint8Array(1_000_000));
    const header = { ...json, "content-encoding": "gzip" };
    const { status } = await post("", {
      options: { ...options, maxBodyBytes: 100_000 },
      init: { header, body: [bomb] },
    });
    expect(status).toBe(413);
  });
});

describe("JSON-RPC errors", () => {
  it("carry the catalogue's code and ErrorInfo (E-1, E-2)", async () => {
    const { status, body } = await post(call("GetTask", { id: "missing" }));
    expect(status).toBe(200);
    expect(body).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: -32001,
        message: "there is no such task",
        data: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: "TASK_NOT_FOUND",
            domain: "a2a-protocol.org",
            metadata: { taskId: "missing" },
          },
        ],
      },
    });
  });

  for (const [thrown, status, code] of [
    [
      new ConnectError("who are you", Code.Unauthenticated, { "www-authenticate": 'Bearer realm="a"' }),
      401,
      -32603,
    ],
    [new ConnectError("not you", Code.PermissionDenied), 403, -32603],
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

  it("wrap every event in a response with the request's id (I-5, I-6)", async () => {
    const response = await stream();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.header ?? [])).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    const events = (await responseText(response)).split("\n\n");
    expect(events.pop()).toBe("");
    expect(events.map((event) => JSON.parse(event.slice("data: ".length)))).toEqual([
      { jsonrpc: "2.0", id: "s", result: { task: expect.objectContaining({ id: "t-1" }) } },
      { jsonrpc: "2.0", id: "s", result: { artifactUpdate: expect.objectContaining({ taskId: "t-1" }) } },
      { jsonrpc: "2.0", id: "s", result: { statusUpdate: expect.objectContaining({ contextId: "c-1" }) } },
    ]);
  });

  it("number their events from x-a2a-event-id", async () => {
    const response = await stream(undefined, "SubscribeToTask", { id: "t-1" });
    expect(response.header?.get("x-a2a-event-id")).toBe("7");
    expect((await responseText(response)).match(/^id: .*$/gm)).toEqual(["id: 7", "id: 8", "id: 9"]);
  });

  it("answer an error before the first event with plain JSON (I-7)", async () => {
    const response = await stream(
      createFakeService({
        // biome-ignore lint/correctness/useYield: it fails before
        async *subscribeToTask() {
          throw a2aError("UNSUPPORTED_OPERATION", "the task has ended");
        },
      }),
      "SubscribeToTask",
      { id: "t" },
    );
    expect(response.header?.get("content-type")).toBe("application/json");
    expect(await responseJson(response)).toMatchObject({ id: "s", error: { code: -32004 } });
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
