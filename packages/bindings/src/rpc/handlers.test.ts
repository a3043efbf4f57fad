import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { a2aError, findA2AError } from "@a2a-connect/core";
import { A2AService, GetTaskRequestSchema } from "@a2a-connect/proto";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@a2a-connect/proto/grpc/health/v1";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import {
  compressionBrotli,
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeService, sendRequest } from "../../test-support/fake-service.ts";
import { memoryRequest, responseText } from "../../test-support/memory-http.ts";
import type { HttpResponse } from "../http.ts";
import type { BindingOptions, ErrorContext } from "../options.ts";
import { createRpcHandlers } from "./handlers.ts";
import { registerHealth } from "./health.ts";
import { refuseUnknownRpc } from "./plain-error.ts";

const secret = new Error("hunter2");
const logged: [unknown, ErrorContext][] = [];
const intercepted: unknown[] = [];
let serving = true;

const spy: Interceptor = (next) => async (request) => {
  if (!request.stream) {
    intercepted.push(request.message);
  }
  return next(request);
};

const service = createFakeService({
  cancelTask: () => {
    throw secret;
  },
  // biome-ignore lint/correctness/useYield: it fails before
  async *subscribeToTask({ id }) {
    throw id === "secret" ? secret : a2aError("TASK_NOT_FOUND", "no such task", { taskId: id });
  },
});
const options: BindingOptions = {
  maxBodyBytes: 10_000,
  compressions: [compressionGzip, compressionBrotli],
  interceptors: [spy],
  onError: (thrown, context) => logged.push([thrown, context]),
};
const handlers = createRpcHandlers(service, options, (router) =>
  registerHealth(router, { serving: () => serving, services: [A2AService], watchIntervalMs: 1 }),
);

let server: Http2Server;
let baseUrl: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const handler = handlers.get(request.url);
    const universal = universalRequestFromNodeRequest(request, response, undefined, undefined);
    if (
      handler === undefined ||
      typeof universal.body !== "object" ||
      universal.body === null ||
      !(Symbol.asyncIterator in universal.body)
    ) {
      response.writeHead(404).end();
      return;
    }
    // The adapter only gives streams of bytes when it parses nothing itself.
    void handler({ ...universal, body: universal.body as AsyncIterable<Uint8Array> }).then((answer) =>
      universalResponseToNodeResponse({ ...answer, body: toChunks(answer.body) }, response),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has such an address
});

afterAll(() => server.close());

async function* toChunks(body: HttpResponse["body"]): AsyncGenerator<Uint8Array> {
  if (typeof body === "string") {
    yield new TextEncoder().encode(body);
  } else if (body instanceof Uint8Array) {
    yield body;
  } else if (body !== undefined) {
    yield* body;
  }
}

const transports: Record<string, (options?: { json?: boolean; gzip?: boolean }) => Transport> = {
  grpc: ({ json = false, gzip = false } = {}) =>
    createGrpcTransport({
      baseUrl,
      useBinaryFormat: !json,
      ...(gzip && { sendCompression: compressionGzip, compressMinBytes: 1 }),
    }),
  "grpc-web": ({ json = false, gzip = false } = {}) =>
    createGrpcWebTransport({
      baseUrl,
      httpVersion: "2",
      useBinaryFormat: !json,
      ...(gzip && { sendCompression: compressionGzip, compressMinBytes: 1 }),
    }),
  connect: ({ json = false, gzip = false } = {}) =>
    createConnectTransport({
      baseUrl,
      httpVersion: "2",
      useBinaryFormat: !json,
      ...(gzip && { sendCompression: compressionGzip, compressMinBytes: 1 }),
    }),
};

for (const [wire, transport] of Object.entries(transports)) {
  describe(wire, () => {
    for (const variant of [{}, { json: true }, { gzip: true }, { json: true, gzip: true }]) {
      it(`carries calls and streams, ${JSON.stringify(variant)}`, async () => {
        const client = createClient(A2AService, transport(variant));
        expect(await client.getTask({ id: "t-9" })).toMatchObject({ id: "t-9" });
        const events = [];
        for await (const event of client.sendStreamingMessage(sendRequest("x".repeat(2000)))) {
          events.push(event.payload);
        }
        expect(events).toMatchObject([
          { case: "task" },
          {
            case: "artifactUpdate",
            value: { artifact: { parts: [{ content: { value: "x".repeat(2000) } }] } },
          },
          { case: "statusUpdate" },
        ]);
      });
    }

    it("shows interceptors the message", async () => {
      await createClient(A2AService, transport()).getTask({ id: "seen" });
      expect(intercepted.at(-1)).toMatchObject({ $typeName: "lf.a2a.v1.GetTaskRequest", id: "seen" });
    });

    it("says nothing about what it does not know, and logs it", async () => {
      const client = createClient(A2AService, transport());
      const calls = [
        () => client.cancelTask({ id: "t" }),
        () => drain(client.subscribeToTask({ id: "secret" })),
      ];
      for (const call of calls) {
        logged.length = 0;
        expect(await failure(call())).toMatchObject({ code: Code.Internal, rawMessage: "Internal error" });
        expect(logged).toEqual([
          [secret, { wire, method: expect.stringMatching(/^(CancelTask|SubscribeToTask)$/) }],
        ]);
      }
    });

    it("refuses a body over the limit with BODY_TOO_LARGE", async () => {
      for (const variant of [{}, { gzip: true }]) {
        const client = createClient(A2AService, transport(variant));
        const caught = await failure(client.getTask({ id: "t".repeat(10_001) }));
        expect(caught.code).toBe(Code.ResourceExhausted);
        expect(findA2AError(caught)?.reason).toBe("BODY_TOO_LARGE");
        const streamed = await failure(drain(client.subscribeToTask({ id: "t".repeat(10_001) })));
        expect(findA2AError(streamed)?.reason).toBe("BODY_TOO_LARGE");
      }
    });
  });
}

describe("malformed requests", () => {
  const getTask = "/lf.a2a.v1.A2AService/GetTask";
  const good = toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { id: "t" }));

  async function post(
    path: string,
    type: string,
    body: Uint8Array | string,
    header: Record<string, string> = {},
  ) {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const handler = handlers.get(path);
    if (handler === undefined) {
      throw new Error(`nothing at ${path}`);
    }
    const response = await handler(
      memoryRequest({
        url: `http://x.test${path}`,
        header: { "content-type": type, ...header },
        body: [bytes],
      }),
    );
    const text = await responseText(response); // trailers are complete when the body is
    return { status: response.status, header: response.header, trailer: response.trailer, text };
  }

  const invalidUtf8 = Uint8Array.of(0x12, 2, 0xc3, 0x28);
  const bodies: readonly (readonly [string, Uint8Array])[] = [
    ["garbage", Uint8Array.of(0xff, 0xff, 0xff)],
    ["a truncated field", good.subarray(0, good.length - 1)],
    ["invalid UTF-8", invalidUtf8],
  ];

  for (const [name, body] of bodies) {
    it(`answers ${name} with InvalidArgument on gRPC, gRPC-Web and Connect`, async () => {
      const grpc = await post(getTask, "application/grpc", envelope(body));
      expect(grpc.trailer?.get("grpc-status")).toBe("3");
      expect(grpc.trailer?.get("grpc-status-details-bin")).toBeTruthy();
      const web = await post(getTask, "application/grpc-web+proto", envelope(body));
      expect(web.text).toContain("grpc-status: 3");
      const connect = await post(getTask, "application/proto", body);
      expect([connect.status, JSON.parse(connect.text)]).toMatchObject([400, { code: "invalid_argument" }]);
      const stream = await post(
        "/lf.a2a.v1.A2AService/SubscribeToTask",
        "application/connect+proto",
        envelope(body),
      );
      expect(stream.text).toContain('"code":"invalid_argument"');
    });
  }

  it("keeps no unknown fields of a health check: those of one message would take 80 times its bytes", async () => {
    const unknown = new Uint8Array(8_000).map((_, at) => (at % 2 === 0 ? 0x50 : 1)); // field 10, 4,000 times
    const response = await post("/grpc.health.v1.Health/Check", "application/proto", unknown);
    expect(response.status).toBe(200);
    expect(intercepted.at(-1)).toMatchObject({ $typeName: "grpc.health.v1.HealthCheckRequest" });
    expect(intercepted.at(-1)).not.toHaveProperty("$unknown");
  });

  it("takes a body whose length is declared, compressed or not", async () => {
    const packed = await compressionGzip.compress(good);
    const encodings = [
      [good, {}],
      [packed, { "content-encoding": "gzip" }],
    ] as const;
    for (const [body, header] of encodings) {
      const declared = { ...header, "content-length": String(body.length) };
      expect((await post(getTask, "application/proto", body, declared)).status).toBe(200);
    }
  });
});

describe("refuseUnknownRpc", () => {
  for (const [type, status, grpcStatus] of [
    ["application/grpc", 200, "12"],
    ["application/grpc+proto", 200, "12"],
    ["application/grpc-web+proto", 200, "12"],
    ["application/proto", 404, undefined],
    ["application/connect+json", 404, undefined],
    ["application/json", undefined, undefined],
    ["text/html", undefined, undefined],
  ] as const) {
    it(`answers ${type} with ${status ?? "nothing"}`, () => {
      const response = refuseUnknownRpc(memoryRequest({ header: { "content-type": type } }));
      expect(response?.status).toBe(status);
      expect(response?.header?.get("grpc-status") ?? undefined).toBe(grpcStatus);
    });
  }
});

describe("health", () => {
  it("tells whether the server and its services take calls", async () => {
    const client = createClient(Health, transports["grpc"]?.() ?? createGrpcTransport({ baseUrl }));
    expect(await client.check({})).toMatchObject({ status: Status.SERVING });
    expect(await client.check({ service: A2AService.typeName })).toMatchObject({ status: Status.SERVING });
    expect(Object.keys((await client.list({})).statuses)).toEqual(["", A2AService.typeName]);
    expect(await failure(client.check({ service: "nobody" }))).toMatchObject({ code: Code.NotFound });
  });

  it("watches for changes", async () => {
    const client = createClient(Health, createGrpcTransport({ baseUrl }));
    const call = new AbortController();
    const statuses = client.watch({}, { signal: call.signal })[Symbol.asyncIterator]();
    expect((await statuses.next()).value).toMatchObject({ status: Status.SERVING });
    serving = false;
    expect((await statuses.next()).value).toMatchObject({ status: Status.NOT_SERVING });
    serving = true;
    call.abort();
    const unknown = client
      .watch({ service: "nobody" }, { signal: AbortSignal.timeout(5_000) })
      [Symbol.asyncIterator]();
    expect((await unknown.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
  });
});

it("decompresses few messages of other services at a time, and refuses what would wait for long", async () => {
  const letGo = Promise.withResolvers<void>();
  let [running, most] = [0, 0];
  const slow: Compression = {
    ...compressionGzip,
    async decompress(bytes, readMaxBytes) {
      running += 1;
      most = Math.max(most, running);
      await letGo.promise;
      running -= 1;
      return compressionGzip.decompress(bytes, readMaxBytes);
    },
  };
  const own = createRpcHandlers(service, { compressions: [slow] }, (router) =>
    registerHealth(router, { serving: () => true, services: [] }),
  );
  const check = own.get("/grpc.health.v1.Health/Check") ?? expect.fail("health is served");
  const message = envelope(await compressionGzip.compress(new Uint8Array()), 1);
  const call = async (): Promise<Code> => {
    const header = { "content-type": "application/grpc", "grpc-encoding": "gzip" };
    const { body, trailer } = await check(memoryRequest({ header, body: [message] }));
    for await (const _ of toChunks(body)) {
      // until it ends
    }
    return Number(trailer?.get("grpc-status"));
  };
  const calls = Array.from({ length: 100 }, call);
  const refused = calls.slice(64);
  expect(await Promise.all(refused)).toEqual(refused.map(() => Code.ResourceExhausted));
  letGo.resolve();
  expect(await Promise.all(calls.slice(0, 64))).toEqual(Array.from({ length: 64 }, () => 0));
  expect(most).toBe(3);
});

function envelope(message: Uint8Array, flags = 0): Uint8Array {
  const bytes = new Uint8Array(5 + message.length);
  bytes[0] = flags;
  new DataView(bytes.buffer).setUint32(1, message.length);
  bytes.set(message, 5);
  return bytes;
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events) {
    // until it ends
  }
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
