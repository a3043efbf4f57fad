import { a2aError } from "@a2a-connect/core";
import { GetTaskRequestSchema, SubscribeToTaskRequestSchema, TaskSchema } from "@a2a-connect/proto";
import { TaskNotesService } from "@a2a-connect/proto/a2aconnect/notes/v1";
import { create, fromBinary, toJsonString } from "@bufbuild/protobuf";
import { Code, ConnectError, createServiceImplSpec, type Interceptor } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeTask } from "../../test-support/fake-service.ts";
import { memoryRequest, responseJson, responseText } from "../../test-support/memory-http.ts";
import { readRaw, rpcWires, sendRaw } from "../../test-support/raw-rpc.ts";
import { createRpcHandlers, createServiceHandlers } from "./handlers.ts";

const getTask = { method: "getTask", request: create(GetTaskRequestSchema, { id: "t-9" }) } as const;

const passThrough: Interceptor = (next) => (request) => next(request);

for (const wire of rpcWires) {
  for (const interceptors of [[], [passThrough]]) {
    describe(`a unary call over ${wire}, ${interceptors.length} interceptors`, () => {
      it("carries headers and trailers both ways", async () => {
        const service = createFakeService({
          getTask({ id }, { requestHeader, responseHeader, responseTrailer, protocolName, timeoutMs }) {
            responseHeader.set("x-echo", requestHeader.get("x-sent") ?? "");
            responseTrailer.set("x-after", `${protocolName} ${timeoutMs()}`);
            return fakeTask({ id });
          },
        });
        const handlers = createRpcHandlers(service, { interceptors });
        const call = { wire, ...getTask, header: { "x-sent": "1" } };
        const response = await sendRaw(handlers, call);
        const { messages, trailer, error } = await readRaw(call, response);
        expect(error).toBeUndefined();
        expect(messages.map((bytes) => fromBinary(TaskSchema, bytes).id)).toEqual(["t-9"]);
        expect(response.header?.get("x-echo")).toBe("1");
        expect(trailer.get("x-after")).toBe(`${wire} undefined`);
      });

      it("carries headers that an implementation sets before it fails, and the metadata of its error", async () => {
        const service = createFakeService({
          getTask(_, { responseHeader }) {
            responseHeader.set("x-early", "1");
            throw new ConnectError("no", Code.ResourceExhausted, { "x-limit": "5", "grpc-status": "0" });
          },
        });
        const call = { wire, ...getTask };
        const response = await sendRaw(createRpcHandlers(service, { interceptors }), call);
        const { error } = await readRaw(call, response);
        expect(error?.code).toBe(Code.ResourceExhausted);
        expect(error?.metadata.get("x-limit")).toBe("5");
        expect(response.header?.get("x-early")).toBe("1");
      });
    });
  }
}

describe("an error", () => {
  it("has the same details on all three protocols, of calls and of streams (J-4)", async () => {
    const error = a2aError("TASK_NOT_FOUND", 'no task; ask for "häßlich" 100%', { taskId: "t" });
    const service = createFakeService({
      getTask: () => {
        throw error;
      },
      // biome-ignore lint/correctness/useYield: it fails before
      async *subscribeToTask() {
        throw error;
      },
    });
    const handlers = createRpcHandlers(service);
    const subscribe = {
      method: "subscribeToTask",
      request: create(SubscribeToTaskRequestSchema, { id: "t" }),
    } as const;
    const seen: { code: Code | undefined; message: string | undefined; details: unknown }[] = [];
    for (const wire of rpcWires) {
      for (const call of [
        { wire, ...getTask },
        { wire, ...subscribe },
      ]) {
        const caught = (await readRaw(call, await sendRaw(handlers, call))).error;
        const details = caught?.details.map((detail) =>
          "type" in detail ? [detail.type, detail.value] : [],
        );
        seen.push({ code: caught?.code, message: caught?.rawMessage, details });
      }
    }
    expect(seen[0]).toMatchObject({ code: Code.NotFound, message: error.rawMessage });
    expect(seen[0]?.details).toEqual([["google.rpc.ErrorInfo", expect.any(Uint8Array)]]);
    expect(seen).toEqual(seen.map(() => seen[0]));
  });

  it("escapes in grpc-message only what gRPC says, half a character included", async () => {
    const service = createFakeService({
      getTask: () => {
        throw new ConnectError("it's over; 50% \u00e4\u{1f600} \ud800", Code.Aborted);
      },
    });
    const { trailer } = await sendRaw(createRpcHandlers(service), { wire: "grpc", ...getTask });
    expect(trailer?.get("grpc-message")).toBe("it's over; 50%25 %C3%A4%F0%9F%98%80 %EF%BF%BD");
  });

  it("is cut off over gRPC before its trailers are so long that HTTP/2 ends the connection", async () => {
    const long = "\u00e9".repeat(100_000);
    const service = createFakeService({
      getTask: () => {
        throw a2aError("TASK_NOT_FOUND", long, { taskId: long });
      },
    });
    const { trailer } = await sendRaw(createRpcHandlers(service), { wire: "grpc", ...getTask });
    expect(trailer?.get("grpc-message")).toBe(`${"%C3%A9".repeat(2_048)}%E2%80%A6`);
    expect(trailer?.get("grpc-status-details-bin")).toBeNull();
  });
});

describe("JSON over Connect", () => {
  it("has REQUIRED fields at their defaults, as on the JSON wires (H-8)", async () => {
    const handler = createRpcHandlers(createFakeService()).get("/lf.a2a.v1.A2AService/ListTasks");
    const response = await handler?.(
      memoryRequest({ header: { "content-type": "application/json" }, body: '{"pageSize":1}' }),
    );
    expect(response && (await responseJson(response))).toEqual({
      tasks: [],
      nextPageToken: "",
      pageSize: 1,
      totalSize: 0,
    });
  });
});

describe("large JSON over gRPC, which is made as a whole for its length", () => {
  const parts = Array.from({ length: 4 }, () => ({
    content: { case: "text" as const, value: "\u0001".repeat(100_000) },
  }));
  const task = fakeTask({ artifacts: [{ artifactId: "a", parts }] });
  const text = toJsonString(TaskSchema, task); // six times as long as what is stored

  function callGetTask(countUnread: (bytes: number) => void) {
    const handlers = createRpcHandlers(createFakeService({ getTask: () => task }));
    const body = [encodeEnvelope(0, new TextEncoder().encode('{"id":"t-1"}'))];
    const request = memoryRequest({ header: { "content-type": "application/grpc+json" }, body });
    return handlers.get("/lf.a2a.v1.A2AService/GetTask")?.({ ...request, countUnread });
  }

  it("counts as unread from when it is made", async () => {
    let counted = 0;
    const response = await callGetTask((bytes) => {
      counted += bytes;
    });
    expect(response?.trailer?.get("grpc-status")).toBe("0");
    expect(counted).toBeGreaterThanOrEqual(text.length);
  });

  it("is refused when there is no room for it", async () => {
    const response = await callGetTask(() => {
      throw a2aError("CAPACITY", "too much is unread");
    });
    expect(response?.trailer?.get("grpc-status")).toBe(String(Code.ResourceExhausted));
  });
});

describe("a call of a service beside A2A", () => {
  const spec = createServiceImplSpec<typeof TaskNotesService>(TaskNotesService, {
    listTaskNotes: ({ taskId }) => ({ notes: [{ name: taskId, payload: "x".repeat(1_000_000) }] }),
  });
  const [handler] = createServiceHandlers(spec).values();
  const ask = (type: string, body: Uint8Array, method = "POST") =>
    handler?.(memoryRequest({ method, header: { "content-type": type }, body: [body] }));
  const json = new TextEncoder().encode('{"taskId":"t-1"}');

  it("is answered over all protocols, a large answer in pieces", async () => {
    const connect = await ask("application/json", json);
    const answers = [
      connect,
      await ask("application/grpc+json", encodeEnvelope(0, json)),
      await ask("application/grpc-web+json", encodeEnvelope(0, json)),
    ];
    for (const answer of answers) {
      expect(Symbol.asyncIterator in Object(answer?.body)).toBe(true);
      expect(await responseText(answer ?? { status: 0 })).toContain('"name":"t-1"');
    }
  });

  it("takes a short request, by POST", async () => {
    expect(await ask("application/json", new Uint8Array(65_537))).toMatchObject({ status: 429 });
    expect(await ask("application/json", json, "GET")).toMatchObject({ status: 405 });
  });
});
