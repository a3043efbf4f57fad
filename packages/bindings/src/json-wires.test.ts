import { a2aError, findA2AError, findFieldViolations, invalidParams } from "@a2a-connect/core";
import { A2AService, type StreamResponse, TaskState } from "@a2a-connect/proto";
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
  type ServiceImpl,
} from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents, sendRequest } from "../test-support/fake-service.ts";
import { handlerFetch } from "../test-support/memory-http.ts";
import type { JsonTransportOptions } from "./fetch/transport-options.ts";
import { createHttpJsonHandler } from "./http-json/handler.ts";
import { createHttpJsonTransport } from "./http-json/transport.ts";
import { createJsonRpcHandler } from "./jsonrpc/handler.ts";
import { createJsonRpcTransport } from "./jsonrpc/transport.ts";
import type { BindingOptions } from "./options.ts";

type FakeImpl = Partial<ServiceImpl<typeof A2AService>>;

const wires = {
  JSONRPC: {
    handler: createJsonRpcHandler,
    transport: (url: string, options: JsonTransportOptions) => createJsonRpcTransport({ ...options, url }),
  },
  "HTTP+JSON": {
    handler: createHttpJsonHandler,
    transport: (baseUrl: string, options: JsonTransportOptions) =>
      createHttpJsonTransport({ ...options, baseUrl }),
  },
} as const;

for (const [wire, { handler, transport }] of Object.entries(wires)) {
  describe(`${wire} over memory`, () => {
    const open = (
      impl: FakeImpl = {},
      { server = {} as BindingOptions, client = {} as JsonTransportOptions } = {},
    ): Client<typeof A2AService> => {
      const fetch = handlerFetch(handler(createFakeService(impl), server));
      return createClient(A2AService, transport("http://memory.test", { fetch, ...client }));
    };

    it("carries every unary operation", async () => {
      const client = open();
      expect((await client.sendMessage(sendRequest("héllo \u{1f600}"))).payload).toMatchObject({
        case: "task",
        value: { artifacts: [{ parts: [{ content: { case: "text", value: "héllo \u{1f600}" } }] }] },
      });
      expect(await client.getTask({ id: "a/b:c?d" })).toMatchObject({
        id: "a/b:c?d",
        status: { state: TaskState.WORKING },
      });
      expect(await client.listTasks({ pageSize: 3, includeArtifacts: true })).toMatchObject({
        pageSize: 3,
        tasks: [],
      });
      expect(await client.cancelTask({ id: "t" })).toMatchObject({ status: { state: TaskState.CANCELED } });
      expect(
        await client.createTaskPushNotificationConfig({ taskId: "t", url: "https://x.test" }),
      ).toMatchObject({ id: "config-1" });
      expect(await client.getTaskPushNotificationConfig({ taskId: "t", id: "c" })).toMatchObject({
        id: "c",
      });
      expect(await client.listTaskPushNotificationConfigs({ taskId: "t" })).toMatchObject({
        configs: [{ id: "config-1" }],
      });
      expect(await client.deleteTaskPushNotificationConfig({ taskId: "t", id: "c" })).toMatchObject({});
      expect(await client.getExtendedAgentCard({ tenant: "acme" })).toMatchObject({ name: "Fake" });
    });

    it("carries the parameters it was given, tenant included", async () => {
      const seen: unknown[] = [];
      const client = open({
        getTask: ({ id, tenant, historyLength }) => {
          seen.push({ id, tenant, historyLength });
          return { id };
        },
      });
      await client.getTask({ id: "t", historyLength: 0 });
      await client.getTask({ id: "t", tenant: "acme" });
      expect(seen).toEqual([
        { id: "t", tenant: "", historyLength: 0 },
        { id: "t", tenant: "acme", historyLength: undefined },
      ]);
    });

    it("carries streams, their headers and ids", async () => {
      const client = open();
      const headers: Headers[] = [];
      const events = await Array.fromAsync(
        client.subscribeToTask({ id: "t" }, { onHeader: (header) => headers.push(header) }),
      );
      expect(events.map(({ payload }) => payload.case)).toEqual(["task", "artifactUpdate", "statusUpdate"]);
      expect(headers[0]?.get("x-a2a-event-id")).toBe("7");
      const sent = await Array.fromAsync(client.sendStreamingMessage(sendRequest()));
      expect(sent).toHaveLength(3);
    });

    it("delivers an event before the next one exists", async () => {
      const gate = Promise.withResolvers<void>();
      const client = open({
        async *sendStreamingMessage() {
          const [first, second] = fakeEvents();
          yield first ?? {};
          await gate.promise;
          yield second ?? {};
        },
      });
      const events = client.sendStreamingMessage(sendRequest())[Symbol.asyncIterator]();
      expect((await events.next()).value?.payload.case).toBe("task");
      gate.resolve();
      expect((await events.next()).value?.payload.case).toBe("artifactUpdate");
      expect((await events.next()).done).toBe(true);
    });

    it("sends A2A-Version unless the caller did, and what interceptors add (F-2)", async () => {
      const seen: (string | null)[][] = [];
      const addTrace: Interceptor = (next) => (request) => {
        request.header.set("x-trace", "1");
        return next(request);
      };
      const client = open(
        {
          getTask: ({ id }, { requestHeader }) => {
            seen.push(["a2a-version", "x-trace", "x-base"].map((name) => requestHeader.get(name)));
            return { id };
          },
        },
        { client: { interceptors: [addTrace], headers: { "x-base": "b" } } },
      );
      await client.getTask({ id: "t" });
      await client.getTask({ id: "t" }, { headers: { "A2A-Version": "9.9", "x-base": "c" } });
      expect(seen).toEqual([
        ["1.0", "1", "b"],
        ["9.9", "1", "c"],
      ]);
    });

    for (const [name, error] of [
      ["an A2A error", a2aError("TASK_NOT_CANCELABLE", "it is done", { taskId: "t" })],
      ["an error of ours", a2aError("CAPACITY", "too many")],
      ["an error of the agent's content", a2aError("CONTENT_TYPE_NOT_SUPPORTED", "no images")],
      ["invalid parameters", invalidParams([{ field: "message.parts[0]", description: "is empty" }])],
      ["missing credentials", a2aError("UNAUTHENTICATED", "who are you")],
      ["missing permission", a2aError("PERMISSION_DENIED", "not you", { scope: "s" })],
      ["an unimplemented method", new ConnectError("not here", Code.Unimplemented)],
    ] as const) {
      it(`gives back ${name} as it was (E-4, E-7)`, async () => {
        const client = open({
          getTask: () => Promise.reject(error),
          async *subscribeToTask() {
            yield* fakeEvents().slice(0, 1);
            throw error;
          },
        });
        const unary = await failure(client.getTask({ id: "t" }));
        const events: StreamResponse[] = [];
        const streamed = await failure(collect(client.subscribeToTask({ id: "t" }), events));
        expect(events).toHaveLength(1);
        for (const caught of [unary, streamed]) {
          expect(caught).toMatchObject({ code: error.code, rawMessage: error.rawMessage });
          expect(findA2AError(caught)).toEqual(findA2AError(error));
          expect(findFieldViolations(caught)).toMatchObject(findFieldViolations(error));
        }
      });
    }

    it("says nothing of what the server does not know", async () => {
      const client = open({
        getTask: () => {
          throw new Error("hunter2");
        },
      });
      expect(await failure(client.getTask({ id: "t" }))).toMatchObject({
        code: Code.Internal,
        rawMessage: "Internal error",
      });
    });

    it("answers an error before the first event as an error", async () => {
      const client = open({
        // biome-ignore lint/correctness/useYield: it fails before
        async *subscribeToTask() {
          throw a2aError("TASK_NOT_FOUND", "no such task");
        },
      });
      const caught = await failure(collect(client.subscribeToTask({ id: "t" }), []));
      expect(findA2AError(caught)?.reason).toBe("TASK_NOT_FOUND");
    });

    it("runs interceptors around unary calls and streams on the server", async () => {
      const log: string[] = [];
      const logged: Interceptor = (next) => async (request) => {
        log.push(`> ${request.method.name}`);
        const response = await next(request);
        response.header.set("x-seen", "yes");
        return response;
      };
      const client = open({}, { server: { interceptors: [logged] } });
      const headers: Headers[] = [];
      const onHeader = (header: Headers) => headers.push(header);
      await client.getTask({ id: "t" }, { onHeader });
      expect(await Array.fromAsync(client.subscribeToTask({ id: "t" }, { onHeader }))).toHaveLength(3);
      expect(log).toEqual(["> GetTask", "> SubscribeToTask"]);
      expect(headers.map((header) => header.get("x-seen"))).toEqual(["yes", "yes"]);
    });

    it("tells the implementation when the caller goes away, and lets it clean up", async () => {
      const aborted = Promise.withResolvers<string>();
      const cleaned = Promise.withResolvers<string>();
      const client = open({
        async *subscribeToTask(_, { signal }) {
          try {
            yield* fakeEvents().slice(0, 1);
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
            aborted.resolve("aborted");
          } finally {
            cleaned.resolve("cleaned");
          }
        },
      });
      const call = new AbortController();
      const events = client.subscribeToTask({ id: "t" }, { signal: call.signal })[Symbol.asyncIterator]();
      await events.next();
      const rest = failure(Promise.resolve(events.next()));
      call.abort();
      expect(await rest).toMatchObject({ code: Code.Canceled });
      expect(await Promise.all([aborted.promise, cleaned.promise])).toEqual(["aborted", "cleaned"]);
    });

    it("closes a stream that only ever yields when its reader leaves", async () => {
      const cleaned = Promise.withResolvers<string>();
      const client = open({
        async *subscribeToTask() {
          try {
            while (true) {
              yield* fakeEvents();
            }
          } finally {
            cleaned.resolve("cleaned");
          }
        },
      });
      const call = new AbortController();
      const events = client.subscribeToTask({ id: "t" }, { signal: call.signal })[Symbol.asyncIterator]();
      await events.next();
      call.abort();
      await expectFailure(Promise.resolve(events.next()), Code.Canceled);
      expect(await cleaned.promise).toBe("cleaned");
    });

    it("ends a call whose time is up with DeadlineExceeded", async () => {
      const client = open({
        getTask: (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
      });
      await expectFailure(client.getTask({ id: "t" }, { timeoutMs: 30 }), Code.DeadlineExceeded);
    });

    it("refuses a response beyond the client's limit", async () => {
      const client = open({}, { client: { maxResponseBytes: 40 } });
      await expectFailure(client.getTask({ id: "t".repeat(50) }), Code.ResourceExhausted);
      await expectFailure(collect(client.subscribeToTask({ id: "t" }), []), Code.ResourceExhausted);
    });

    it("compresses a request that is worth it, and takes one that is compressed", async () => {
      const client = open(
        {},
        {
          server: { compressions: [compressionGzip], compressMinBytes: 1e6 },
          client: { sendCompression: compressionGzip, compressMinBytes: 1 },
        },
      );
      expect((await client.sendMessage(sendRequest("x".repeat(3000)))).payload.case).toBe("task");
    });
  });

  describe(`${wire} client`, () => {
    function answering(response: () => Response): Client<typeof A2AService> {
      return createClient(A2AService, transport("http://x.test/a2a/", { fetch: async () => response() }));
    }

    it("says Unavailable when the server cannot be reached", async () => {
      const client = createClient(A2AService, transport("http://127.0.0.1:1", {}));
      await expectFailure(client.getTask({ id: "t" }), Code.Unavailable);
    });

    for (const [status, code] of [
      [401, Code.Unauthenticated],
      [403, Code.PermissionDenied],
      [404, Code.NotFound],
      [429, Code.ResourceExhausted],
      [502, Code.Unavailable],
      [503, Code.Unavailable],
    ] as const) {
      it(`reads a proxy's page with status ${status} as ${Code[code]}`, async () => {
        const client = answering(
          () => new Response("<html>", { status, headers: { "content-type": "text/html" } }),
        );
        await expectFailure(client.getTask({ id: "t" }), code);
        await expectFailure(collect(client.subscribeToTask({ id: "t" }), []), code);
      });
    }

    for (const [name, body, type] of [
      ["a page", "<html>", "text/html"],
      ["broken JSON", "{", "application/json"],
      ["a JSON string", '"x"', "application/json"],
      ["a wrong-typed field", '{"id":5,"result":{"id":5}}', "application/json"],
    ] as const) {
      it(`says Internal when success is ${name}`, async () => {
        const client = answering(() => new Response(body, { headers: { "content-type": type } }));
        await expectFailure(client.getTask({ id: "t" }), Code.Internal);
        await expectFailure(collect(client.subscribeToTask({ id: "t" }), []), Code.Internal);
      });
    }

    for (const [name, chunks, code] of [
      ["an event that is not JSON", ["data: {\n\n"], Code.Internal],
      ["an event that is cut off", ['data: {"jsonrpc"'], Code.Unavailable],
    ] as const) {
      it(`says ${Code[code]} to ${name}`, async () => {
        const client = answering(
          () => new Response(chunks.join(""), { headers: { "content-type": "text/event-stream" } }),
        );
        await expectFailure(collect(client.subscribeToTask({ id: "t" }), []), code);
      });
    }

    it("says Unavailable when the connection breaks", async () => {
      const broken = () =>
        new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
      const client = answering(
        () => new Response(broken(), { headers: { "content-type": "text/event-stream" } }),
      );
      await expectFailure(collect(client.subscribeToTask({ id: "t" }), []), Code.Unavailable);
    });
  });
}

describe("JSON-RPC client", () => {
  for (const [code, reason] of [
    [-32001, "TASK_NOT_FOUND"],
    [-32008, "EXTENSION_SUPPORT_REQUIRED"],
  ] as const) {
    it(`knows ${code} without details (E-4)`, async () => {
      const body = { jsonrpc: "2.0", id: 1, error: { code, message: "nope", data: { free: "form" } } };
      const transport = createJsonRpcTransport({
        url: "http://x.test",
        fetch: async () => Response.json(body),
      });
      const caught = await failure(createClient(A2AService, transport).getTask({ id: "t" }));
      expect(findA2AError(caught)?.reason).toBe(reason);
      expect(caught).toMatchObject({ rawMessage: "nope" });
    });
  }
});

describe("HTTP+JSON client", () => {
  it("joins base and path with one slash and keeps the base's query (K-10)", async () => {
    const urls: string[] = [];
    for (const baseUrl of ["http://x.test/a2a/", "http://x.test/a2a", "http://x.test/a2a?key=1"]) {
      const fetch = async (input: string | URL | Request) => {
        urls.push(String(input));
        return Response.json({});
      };
      const client = createClient(A2AService, createHttpJsonTransport({ baseUrl, fetch }));
      await client.getTask({ id: "t", tenant: "acme", historyLength: 2 });
    }
    const path = "http://x.test/a2a/acme/tasks/t";
    expect(urls).toEqual([
      `${path}?historyLength=2`,
      `${path}?historyLength=2`,
      `${path}?key=1&historyLength=2`,
    ]);
  });

  it("does not ask twice for a task that does not exist", async () => {
    let calls = 0;
    const handler = createHttpJsonHandler(
      createFakeService({
        subscribeToTask: () => {
          calls += 1;
          throw a2aError("TASK_NOT_FOUND", "no");
        },
      }),
    );
    const transport = createHttpJsonTransport({ baseUrl: "http://x.test", fetch: handlerFetch(handler) });
    await failure(collect(createClient(A2AService, transport).subscribeToTask({ id: "t" }), []));
    expect(calls).toBe(1);
  });

  it("takes 204 for an empty answer (K-12)", async () => {
    const transport = createHttpJsonTransport({
      baseUrl: "http://x.test",
      fetch: async () => new Response(null, { status: 204 }),
    });
    expect(
      await createClient(A2AService, transport).deleteTaskPushNotificationConfig({ taskId: "t", id: "c" }),
    ).toMatchObject({});
  });

  it("sends no URL that no server would take, such as one with a page token of megabytes", async () => {
    const asked: string[] = [];
    const transport = createHttpJsonTransport({
      baseUrl: "http://x.test",
      fetch: async (input) => {
        asked.push(String(input));
        return Response.json({});
      },
    });
    const client = createClient(A2AService, transport);
    await client.listTasks({ pageToken: "%".repeat(60_000) });
    await expectFailure(client.listTasks({ pageToken: "%".repeat(70_000) }), Code.InvalidArgument);
    await expectFailure(client.getTask({ id: "%".repeat(70_000) }), Code.InvalidArgument);
    expect(asked.map((url) => new URL(url).pathname)).toEqual(["/tasks"]);
  });

  it("says which field a path cannot carry", async () => {
    const transport = createHttpJsonTransport({ baseUrl: "http://x.test" });
    const caught = await failure(createClient(A2AService, transport).getTask({ id: "" }));
    expect(findFieldViolations(caught)).toMatchObject([{ field: "id" }]);
  });
});

async function collect(events: AsyncIterable<StreamResponse>, into: StreamResponse[]): Promise<void> {
  for await (const event of events) {
    into.push(event);
  }
}

/** A call that fails with this code. */
async function expectFailure(call: Promise<unknown>, code: Code): Promise<void> {
  expect(await failure(call)).toMatchObject({ code });
}

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  const outcome = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(outcome instanceof ConnectError)) {
    throw new Error(`expected a ConnectError, got ${String(outcome)}`, { cause: outcome });
  }
  return outcome;
}
