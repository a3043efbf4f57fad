import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { methods } from "@a2a-connect/core";
import { expect, it, onTestFinished, vi } from "vitest";
import { createNodeFetch, handshakeTurns } from "./connections.ts";
import { grpcTransport } from "./grpc-transport.ts";

/** How each wire connects to an https URL. */
const wires = {
  fetch(url: string) {
    const { fetch, close } = createNodeFetch({}, 10_000);
    fetch(url).catch(() => {});
    return close;
  },
  gRPC(url: string) {
    const settings = { url, fetch, interceptors: [], maxResponseBytes: 1024, connectTimeoutMs: 10_000 };
    const { transport, close } = grpcTransport({ tls: {} }).open(settings);
    transport.unary(methods.getTask.desc as never, undefined, undefined, undefined, {}).catch(() => {});
    return close;
  },
};

for (const [name, connect] of Object.entries(wires)) {
  it(`${name} begins the handshake of TLS when the agent has a turn`, async () => {
    let arrived = 0;
    const server = createServer((socket) => {
      socket
        .on("error", () => {})
        .on("data", ({ length }) => {
          arrived += length;
          socket.destroy();
        });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // of a TCP server that listens
    const begins: (() => void)[] = [];
    const join = vi.spyOn(handshakeTurns, "join").mockImplementation((_caller, _socket, begin) => {
      begins.push(begin);
    });
    const count = vi.spyOn(handshakeTurns, "countHandshake");
    const origin = `https://127.0.0.1:${port}`;
    const close = connect(origin);
    onTestFinished(async () => {
      vi.restoreAllMocks();
      await close();
      server.close();
    });
    await expect.poll(() => join.mock.calls.map(([caller]) => caller)).toEqual([origin]);
    expect(arrived).toBe(0);
    begins[0]?.();
    await expect.poll(() => arrived).toBeGreaterThan(0);
    await expect.poll(() => count.mock.calls).toEqual([[origin]]); // also when it has failed
  });
}

it("a server that sends interim answers without an end is not read on", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {}).write("HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n".repeat(17));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const { fetch, close } = createNodeFetch({}, 10_000);
  const refused = await rejectionOf(fetch(`http://127.0.0.1:${port}`));
  expect(refused.cause).toMatchObject({ message: "the server sent too many interim answers" });
  await close();
  server.close();
});

async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.unreachable(),
    (error: Error) => error,
  );
}
