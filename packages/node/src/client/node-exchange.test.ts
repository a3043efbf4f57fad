import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import type { WireResponse } from "@a2a-connect/bindings/client";
import type { Wakes } from "@a2a-connect/core/internal";
import { Agent, fetch } from "undici";
import { expect, it, onTestFinished, vi } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { createNodeExchange } from "./node-exchange.ts";

/** An exchange, and a server for it. */
async function start(listener: RequestListener, turns?: Pick<Wakes, "turn">) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  const agent = new Agent();
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  return {
    ...createNodeExchange(async () => ({ dispatcher: agent, fetch }), turns),
    url: `http://127.0.0.1:${port}/a?b=c`,
    sockets,
    async [Symbol.asyncDispose]() {
      await agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** All bytes of a body as text. */
async function textOf({ body }: WireResponse): Promise<string> {
  const reader = body?.getReader();
  const pieces: Uint8Array[] = [];
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    pieces.push(next.value);
  }
  return Buffer.concat(pieces).toString();
}

it("sends method, path, headers and body, and gives status, headers and body", async () => {
  await using server = await start((request, response) => {
    request.setEncoding("utf8").on("data", (body: string) => {
      const { method, url, headers } = request;
      response.writeHead(418, { "x-many": ["a", "b"] });
      response.end(JSON.stringify([method, url, headers["x-own"], body]));
    });
  });
  const response = await server.fetch(server.url, {
    method: "POST",
    headers: { "x-own": "1" },
    body: new TextEncoder().encode("hello"),
  });
  expect([response.status, response.ok, response.headers.get("x-many")]).toEqual([418, false, "a, b"]);
  expect(JSON.parse(await textOf(response))).toEqual(["POST", "/a?b=c", "1", "hello"]);
});

it("skips interim answers, and does not follow redirects", async () => {
  await using server = await start((_, response) => {
    response.writeEarlyHints({ link: "</x>; rel=preload" }, () => {
      response.writeHead(302, { location: "http://other.example/" }).end();
    });
  });
  const { status, headers } = await server.fetch(server.url);
  expect([status, headers.get("location")]).toEqual([302, "http://other.example/"]);
});

for (const [coding, bytes] of [
  ["gzip", gzipSync("hello")],
  ["x-gzip", gzipSync("hello")],
  ["deflate", deflateSync("hello")],
  ["br", brotliCompressSync("hello")],
  ["deflate, gzip", gzipSync(deflateSync("hello"))],
] as const) {
  it(`decompresses ${coding}`, async () => {
    await using server = await start((request, response) => {
      expect(request.headers["accept-encoding"]).toContain("gzip");
      response.writeHead(200, { "content-encoding": coding }).end(bytes);
    });
    expect(await textOf(await server.fetch(server.url))).toBe("hello");
  });
}

it("gives what was compressed and flushed before the rest has come", async () => {
  const read = createGate();
  await using server = await start(async (_, response) => {
    const gzip = createGzip();
    gzip.pipe(response.writeHead(200, { "content-encoding": "gzip" }));
    gzip.write("first");
    gzip.flush();
    await read.opened;
    gzip.end(" second");
  });
  const reader = (await server.fetch(server.url)).body?.getReader();
  const first = await reader?.read();
  expect(Buffer.from(first?.value ?? []).toString()).toBe("first");
  read.open();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(" second");
});

it("fails for bytes that are not of their coding, and takes none at all as an empty body", async () => {
  await using server = await start((request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    response.end(request.method === "POST" ? "no gzip" : undefined);
  });
  expect(await textOf(await server.fetch(server.url))).toBe("");
  const response = await server.fetch(server.url, { method: "POST" });
  await expect(textOf(response)).rejects.toThrow("incorrect header check");
});

it("reads no further than a slow reader takes", async () => {
  const total = 64 * 1024 * 1024;
  let written = 0;
  const full = createGate();
  await using server = await start(async (_, response) => {
    const chunk = Buffer.alloc(1024 * 1024);
    while (written < total) {
      written += chunk.byteLength;
      if (!response.write(chunk)) {
        full.open();
        await once(response, "drain");
      }
    }
    response.end();
  });
  const { body } = await server.fetch(server.url);
  await full.opened;
  const reader = body?.getReader();
  await reader?.read();
  expect(written).toBeLessThan(total);
  let received = 0;
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    received += next.value.byteLength;
  }
  expect(received).toBeGreaterThan(total - 1024 * 1024);
});

it.each([1, 200])(
  "joins the chunks of a packet, and gives little back to the socket: %i bytes each",
  async (length) => {
    const bytes = 400_000;
    const chunk = `${length.toString(16)}\r\n${"x".repeat(length)}\r\n`;
    await using server = await start(({ socket }) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      socket.write(`${chunk.repeat(bytes / length)}0\r\n\r\n`);
    });
    const givenBack = vi.spyOn(Socket.prototype, "unshift");
    onTestFinished(() => void givenBack.mockRestore());
    const { body } = await server.fetch(server.url);
    const reader = body?.getReader();
    let [received, pieces] = [0, 0];
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      received += next.value.byteLength;
      pieces += 1;
      await nextTurn();
    }
    expect(received).toBe(bytes);
    expect(pieces).toBeLessThan(bytes / 1_000);
    const sent = (bytes / length) * chunk.length;
    expect(givenBack.mock.calls.reduce((sum, [rest]) => sum + rest.length, 0)).toBeLessThanOrEqual(sent);
  },
);

it("decompresses no more than a slow reader takes", async () => {
  const total = 16 * 1024 * 1024;
  const small = gzipSync(Buffer.alloc(total));
  await using server = await start((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(small);
  });
  const slow = (await server.fetch(server.url)).body?.getReader();
  await slow?.read();
  expect(await textOf(await server.fetch(server.url))).toHaveLength(total); // time enough for both
  let received = 0;
  for (let ready = slow?.takeReady?.(); ready !== undefined; ready = slow?.takeReady?.()) {
    received += ready.byteLength;
  }
  expect(received).toBeLessThan(1024 * 1024);
  for (let next = await slow?.read(); next?.done === false; next = await slow?.read()) {
    received += next.value.byteLength;
  }
  expect(received).toBeGreaterThan(total - 1024 * 1024);
});

for (const [when, listener] of [
  ["before it is answered", () => {}],
  ["while its body comes", (_, response) => response.writeHead(200).write("a")],
] as readonly [string, RequestListener][]) {
  it(`ends a request ${when} by its signal, and by close, with their reasons`, async () => {
    await using server = await start(listener);
    const reason = new Error("enough");
    const caller = new AbortController();
    const asked = server.fetch(server.url, { signal: caller.signal }).then(textOf);
    const other = server.fetch(server.url).then(textOf);
    setImmediate(() => caller.abort(reason));
    await expect(asked).rejects.toBe(reason);
    server.close();
    await expect(other).rejects.toThrow("the client was closed");
    await expect(server.fetch(server.url)).rejects.toThrow("the client was closed");
  });
}

it("sends nothing when its signal was aborted before", async () => {
  await using server = await start(() => expect.unreachable());
  const reason = new Error("too late");
  await expect(server.fetch(server.url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

it("closes the connection of a response that is not read to its end", async () => {
  await using server = await start((_, response) => response.writeHead(200).write("a"));
  const { body } = await server.fetch(server.url);
  const [socket] = server.sockets;
  const closed = socket && once(socket, "close");
  await body?.cancel();
  await closed;
});

it("fails with Node's error when nobody listens, and when the connection breaks", async () => {
  await using server = await start((request) => request.socket.destroy());
  await expect(server.fetch(server.url)).rejects.toMatchObject({ code: "UND_ERR_SOCKET" });
  const nobody = await start(() => {});
  await nobody[Symbol.asyncDispose]();
  await expect(server.fetch(nobody.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

it("calls no URL that fetch would not call", async () => {
  await using server = await start(() => expect.unreachable());
  const withPassword = server.url.replace("//", "//user:password@");
  await expect(server.fetch(withPassword)).rejects.toThrow(TypeError);
  await expect(server.fetch("http://127.0.0.1:25/")).rejects.toMatchObject({
    cause: { message: "bad port" },
  });
});

it("reads what has come when the agent has a turn, and loses nothing when the end comes before", async () => {
  const asked: (string | undefined)[] = [];
  const gates: ReturnType<typeof createGate>[] = [];
  const turns = {
    turn(share: string | undefined) {
      const gate = createGate();
      asked.push(share);
      gates.push(gate);
      return gate.opened;
    },
  };
  await using server = await start((_, response) => response.end("abc"), turns);
  const text = server.fetch(server.url).then(textOf);
  await vi.waitUntil(() => gates.length === 1);
  await server.fetch(server.url); // the first response has ended by now
  expect(gates).toHaveLength(1);
  gates[0]?.open();
  await vi.waitUntil(() => gates.length === 2); // the end has a turn of its own: what reads a whole body works then
  gates[1]?.open();
  await expect(text).resolves.toBe("abc");
  expect(asked).toEqual(Array(2).fill(new URL(server.url).origin));
});
