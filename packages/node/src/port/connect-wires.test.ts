import type { HttpHandler } from "@a2a-connect/bindings";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "@a2a-connect/proto/grpc/health/v1";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { Code, ConnectError, createClient, createConnectRouter, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { aborted, createGate, json } from "../../test-support/handlers.ts";
import { type Listener, listen } from "./listen.ts";

/** Connect's own handlers behind our listener: unary, and a stream that ends when its caller leaves. */
function createHealthHandler(): { handler: HttpHandler; left: Promise<void> } {
  const left = createGate();
  const router = createConnectRouter().service(Health, {
    check({ service }, { responseTrailer }) {
      if (service !== "") throw new ConnectError(`no service ${service}`, Code.NotFound);
      responseTrailer.set("x-after", "1");
      return { status: ServingStatus.SERVING };
    },
    async *watch({ service }, { signal, responseHeader }) {
      responseHeader.set("x-first", "1");
      for (let i = 0; i < 3; i += 1) yield { status: ServingStatus.SERVING };
      if (service === "refuse") throw new ConnectError("no more", Code.ResourceExhausted);
      await aborted(signal);
      left.open();
    },
  });
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  const handler: HttpHandler = async (request) => {
    const found = handlers.get(new URL(request.url).pathname);
    return found === undefined ? json("not found", 404) : found(request);
  };
  return { handler, left: left.opened };
}

type Wire = (listener: Listener, ca?: string) => Transport;
const wires: Readonly<Record<string, Wire>> = {
  gRPC: ({ url }, ca) => createGrpcTransport({ baseUrl: url, nodeOptions: { ca } }),
  "gRPC-Web on HTTP/1.1": ({ url }, ca) =>
    createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", nodeOptions: { ca } }),
  "gRPC-Web on HTTP/2": ({ url }, ca) =>
    createGrpcWebTransport({ baseUrl: url, httpVersion: "2", nodeOptions: { ca } }),
  "Connect on HTTP/1.1": ({ url }, ca) =>
    createConnectTransport({ baseUrl: url, httpVersion: "1.1", nodeOptions: { ca } }),
  "Connect on HTTP/2": ({ url }, ca) =>
    createConnectTransport({ baseUrl: url, httpVersion: "2", nodeOptions: { ca } }),
};

for (const [name, createTransport] of Object.entries(wires)) {
  describe(name, () => {
    it("carries a unary call with its trailers", async () => {
      await using listener = await listen(createHealthHandler().handler);
      const trailers: (string | null)[] = [];
      const options = { onTrailer: (trailer: Headers) => void trailers.push(trailer.get("x-after")) };
      const response = await createClient(Health, createTransport(listener)).check({}, options);
      expect([response.status, trailers]).toEqual([ServingStatus.SERVING, ["1"]]);
      await listener.close({ timeoutMs: 0 });
    });

    it("carries an error without a message", async () => {
      await using listener = await listen(createHealthHandler().handler);
      const call = createClient(Health, createTransport(listener)).check({ service: "x" });
      await expect(call).rejects.toMatchObject({ code: Code.NotFound, rawMessage: "no service x" });
      await listener.close({ timeoutMs: 0 });
    });

    it("carries a stream and the error that ends it", async () => {
      await using listener = await listen(createHealthHandler().handler);
      const headers: (string | null)[] = [];
      const options = { onHeader: (header: Headers) => void headers.push(header.get("x-first")) };
      const stream = createClient(Health, createTransport(listener)).watch({ service: "refuse" }, options);
      let count = 0;
      const reading = (async () => {
        for await (const { status } of stream) count += status === ServingStatus.SERVING ? 1 : 0;
      })();
      await expect(reading).rejects.toMatchObject({ code: Code.ResourceExhausted, rawMessage: "no more" });
      expect([count, headers]).toEqual([3, ["1"]]);
      await listener.close({ timeoutMs: 0 });
    });

    it("ends the generator of a stream whose caller leaves", async () => {
      const { handler, left } = createHealthHandler();
      await using listener = await listen(handler);
      const leave = new AbortController();
      const stream = createClient(Health, createTransport(listener)).watch({}, { signal: leave.signal });
      let count = 0;
      const reading = (async () => {
        for await (const _ of stream) if (++count === 3) leave.abort();
      })();
      await expect(reading).rejects.toMatchObject({ code: Code.Canceled });
      await left;
      await listener.close({ timeoutMs: 0 });
    });
  });
}

it("carries all of them over TLS", async () => {
  const tls = createSelfSignedCertificate();
  await using listener = await listen(createHealthHandler().handler, { tls });
  for (const createTransport of Object.values(wires)) {
    const client = createClient(Health, createTransport(listener, tls.cert));
    expect((await client.check({})).status).toBe(ServingStatus.SERVING);
  }
  await listener.close({ timeoutMs: 0 });
});
