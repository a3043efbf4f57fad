import { once } from "node:events";
import type { HttpHandler } from "@a2a-connect/bindings";
import { createJsonRpcHandler, createRpcHandlers, sendHeadNow } from "@a2a-connect/bindings/server";
import { A2AService, StreamResponseSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { type Client, createClient, createServiceImplSpec } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { type Listener, listen } from "./listen.ts";

/** Every wire with a subscription that sets its header and then is silent until the gate opens. */
function createSilentAgent(announce: boolean) {
  const gate = createGate();
  const spec = createServiceImplSpec<typeof A2AService>(A2AService, {
    async *subscribeToTask(_, context) {
      context.responseHeader.set("x-a2a-event-id", "8");
      if (announce) sendHeadNow(context);
      await gate.opened;
      yield create(StreamResponseSchema, { payload: { case: "message", value: { messageId: "m-1" } } });
    },
  });
  const options = { openAfterMs: announce ? 3_600_000 : 1 };
  const rpc = createRpcHandlers(spec, options);
  const jsonRpc = createJsonRpcHandler(spec, options);
  const handler: HttpHandler = (request) => (rpc.get(new URL(request.url).pathname) ?? jsonRpc)(request);
  return { gate, handler };
}

const wires: Readonly<Record<string, (listener: Listener) => Client<typeof A2AService>>> = {
  "gRPC on HTTP/2": ({ url }) => createClient(A2AService, createGrpcTransport({ baseUrl: url })),
  "gRPC-Web on HTTP/1.1": ({ url }) =>
    createClient(A2AService, createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" })),
  "Connect on HTTP/1.1": ({ url }) =>
    createClient(A2AService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" })),
  "Connect on HTTP/2": ({ url }) =>
    createClient(A2AService, createConnectTransport({ baseUrl: url, httpVersion: "2" })),
};

const modes = [
  ["after openAfterMs", false],
  ["when the operation says so", true],
] as const;

for (const [when, announce] of modes) {
  describe(`the head of a silent stream goes out ${when}`, () => {
    for (const [name, connect] of Object.entries(wires)) {
      it(`over ${name}`, async () => {
        const { gate, handler } = createSilentAgent(announce);
        await using listener = await listen(handler);
        const { promise: header, resolve } = Promise.withResolvers<Headers>();
        const events = Array.fromAsync(connect(listener).subscribeToTask({ id: "t" }, { onHeader: resolve }));
        expect((await header).get("x-a2a-event-id")).toBe("8"); // and nothing else can have come
        gate.open();
        expect((await events).map(({ payload }) => payload.case)).toEqual(["message"]);
        await listener.close({ timeoutMs: 0 });
      });
    }

    it("over SSE on HTTP/1.1", async () => {
      const { gate, handler } = createSilentAgent(announce);
      await using listener = await listen(handler);
      using connection = await openRawConnection(listener.port);
      const body = '{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"t"}}';
      await connection.write(
        `POST /rpc HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      const head = await connection.until("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*x-a2a-event-id: 8\r\n[\s\S]*\r\n\r\n$/);
      gate.open();
      expect(await connection.until("0\r\n\r\n")).toContain("id: 8\ndata: ");
    });
  });
}

describe("a response with headAtOnce", () => {
  it("is cut visibly when its body fails before the first chunk", async () => {
    const gate = createGate();
    // biome-ignore lint/correctness/useYield: it fails before
    async function* body(): AsyncGenerator<Uint8Array> {
      await gate.opened;
      throw new Error("xyzzy");
    }
    await using listener = await listen(async () => ({ status: 200, body: body(), headAtOnce: true }));
    using session = openHttp2(listener.url);
    const stream = session.request({});
    stream.on("error", () => undefined);
    const [fields] = await once(stream, "response");
    expect(fields[":status"]).toBe(200);
    const closed = new Promise((resolve) => stream.once("close", resolve));
    gate.open();
    await closed;
    expect(stream.rstCode).not.toBe(0);
  });

  it("is answered 500 when its status is none", async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("x");
    }
    await using listener = await listen(async () => ({ status: 99, body: body(), headAtOnce: true }));
    using session = openHttp2(listener.url);
    expect((await callHttp2(session, {})).headers[":status"]).toBe(500);
    expect((await fetch(listener.url)).status).toBe(500);
  });
});
