import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttp2Server, createSecureServer } from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import type { WireResponse } from "@a2a-connect/bindings/client";
import { methods } from "@a2a-connect/core";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import * as undici from "undici";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connectInTurn } from "../network/connect-in-turn.ts";
import { createGuardedFetch } from "../network/guarded-fetch.ts";
import { answerTurns, createNodeFetch } from "./connections.ts";
import { grpcTransport } from "./grpc-transport.ts";
import { createNodeExchange } from "./node-exchange.ts";
import type { NodeTlsOptions } from "./tls-options.ts";

interface Called {
  readonly answer: Promise<unknown>;
  close(): Promise<void> | void;
}

function callByFetch(url: string, tls: NodeTlsOptions): Called {
  const { fetch, close } = createNodeFetch(tls, 10_000);
  return { answer: fetch(url).then((response) => response.text()), close };
}

/** How each wire connects to a URL. */
const wires: Readonly<Record<string, (url: string, tls?: NodeTlsOptions) => Promise<Called>>> = {
  fetch: async (url, tls = {}) => callByFetch(url, tls),
  async "fetch through a proxy"(url, tls = {}) {
    const proxy = createHttpServer().unref();
    proxy.on("connect", ({ url: target = "" }, socket: Socket) => {
      const { hostname, port } = new URL(`http://${target}`);
      const upstream = connect(Number(port), hostname, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      for (const each of [socket.unref(), upstream.unref()]) each.on("error", () => {});
      socket.on("close", () => upstream.destroy());
      upstream.on("close", () => socket.destroy());
    });
    useProxy(`http://127.0.0.1:${await listening(proxy)}`);
    return callByFetch(url, tls);
  },
  async gRPC(url, tls = {}) {
    const settings = { url, fetch, interceptors: [], maxResponseBytes: 2 ** 20, connectTimeoutMs: 10_000 };
    const { transport, close } = grpcTransport({ tls }).open(settings);
    return {
      answer: transport.unary(methods.getTask.desc as never, undefined, undefined, undefined, {}),
      close,
    };
  },
};

function useProxy(url: string): void {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("NODE_USE_ENV_PROXY", "1");
  for (const name of ["http_proxy", "https_proxy"]) vi.stubEnv(name, url);
  for (const name of ["no_proxy", "NO_PROXY"]) vi.stubEnv(name, "");
}

async function call(wire: string, url: string, tls?: NodeTlsOptions): Promise<Called> {
  const called = (await wires[wire]?.(url, tls)) ?? expect.unreachable();
  called.answer.catch(() => {});
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await called.close();
  });
  return called;
}

/** The error with which a call fails, and what caused it. */
async function reasonsOf({ answer }: Called): Promise<string> {
  const reasons: string[] = [];
  let error: unknown = await answer.then(
    () => expect.unreachable(),
    (reason) => reason,
  );
  while (error instanceof Error) {
    reasons.push(error.message);
    error = error.cause;
  }
  return reasons.join(": ");
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port; // it listens on TCP
}

const certificate = createSelfSignedCertificate();

/** Answers each call with so many bytes, over HTTP/1.1 or gRPC, and keeps nothing alive. */
function answering(scheme: string, wire: string, bytes: number): Server {
  const body = Buffer.alloc(bytes, "x");
  const server =
    wire !== "gRPC"
      ? createTlsOrHttp(scheme, body)
      : scheme === "https"
        ? createSecureServer(certificate)
        : createHttp2Server();
  server.on("stream", (stream) => {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(bytes, 1);
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(Buffer.concat([prefix, body]));
  });
  return server.on("connection", (socket) => socket.unref());
}

function createTlsOrHttp(scheme: string, body: Buffer): Server {
  const answer = (socket: NodeJS.WritableStream): void =>
    void socket
      .on("error", () => {})
      .once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
        socket.write(body);
      });
  return scheme === "https" ? createTlsServer(certificate, answer) : createServer(answer);
}

describe.each(Object.keys(wires))("%s", (wire) => {
  it("begins the handshake of TLS when the agent has a turn", async () => {
    let arrived = 0;
    const server = createServer((socket) => {
      socket
        .on("error", () => {})
        .on("data", ({ length }) => {
          arrived += length;
          socket.end("no TLS");
        });
    });
    const begins: (() => void)[] = [];
    const join = vi.spyOn(answerTurns, "join").mockImplementation((_caller, _socket, begin) => {
      begins.push(begin);
    });
    const count = vi.spyOn(answerTurns, "countHandshake");
    const origin = `https://127.0.0.1:${await listening(server)}`;
    await call(wire, origin);
    await expect.poll(() => join.mock.calls.map(([caller]) => caller)).toEqual([origin]);
    expect(arrived).toBe(0);
    begins[0]?.();
    await expect.poll(() => arrived).toBeGreaterThan(0);
    await expect.poll(() => count.mock.calls).toEqual([[origin, expect.any(Number)]]); // also what makes it fail
  });

  it("ends a handshake of TLS that brings more than 32 KiB, before OpenSSL has them", async () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `host-${at}.agents.example`);
    const { cert, key } = createSelfSignedCertificate(["localhost", ...names]);
    const origin = `https://localhost:${await listening(createTlsServer({ cert, key }).on("tlsClientError", () => {}))}`;
    const refused = await reasonsOf(await call(wire, origin, { ca: cert }));
    expect(refused).toContain("more than 32768 bytes in its handshake of TLS");
  });

  for (const scheme of ["http", "https"]) {
    it(`counts what comes over ${scheme} for the agent, and keeps the process alive no longer`, async () => {
      const alive = () => process.getActiveResourcesInfo().filter((each) => each === "TCPSocketWrap").length;
      const before = alive();
      const counted = vi.spyOn(answerTurns, "countBytes");
      const bytes = 200_000;
      const server = answering(scheme, wire, bytes);
      server.unref();
      const origin = `${scheme}://localhost:${await listening(server)}`;
      const { answer } = await call(wire, origin, { ca: certificate.cert });
      await answer.catch(() => {}); // no message of protobuf
      const counts = counted.mock.calls.flatMap(([caller, count]) => (caller === origin ? [count] : []));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(bytes);
      await expect.poll(alive).toBeLessThanOrEqual(before);
    });
  }
});

describe("an answer is whole whose server has closed the connection before it is read", () => {
  const tls: NodeTlsOptions = { ca: certificate.cert };
  /** What asks for an answer, and gives its body before it has come. */
  const readers: Readonly<Record<string, () => Reader>> = {
    fetch: () => createNodeFetch(tls, 10_000),
    exchange() {
      const { connections, close } = createNodeFetch(tls, 10_000);
      return { fetch: createNodeExchange(connections).fetch, close };
    },
    "guarded fetch": () => createGuardedFetch({ allow: ["localhost"], ca: certificate.cert }),
  };
  const bytes = 100_000;
  const body = "x".repeat(bytes);
  const chunked = `transfer-encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const answers = {
    "connection: close": `connection: close\r\n${chunked}`,
    "connection: keep-alive": `connection: keep-alive\r\n${chunked}`,
    "no length": `connection: close\r\n\r\n${body}`,
  };
  const rows = Object.keys(readers).flatMap((reader) =>
    ["http", "https"].flatMap((scheme) =>
      Object.entries(answers).map(([what, answer]) => [reader, scheme, what, answer] as const),
    ),
  );
  it.each(rows)("%s over %s, %s", async (name, scheme, _, answer) => {
    const reader = readers[name]?.() ?? expect.unreachable();
    onTestFinished(() => reader.close());
    const ended = Promise.withResolvers<void>();
    // What the client has not read yet holds up the close of a connection without TLS.
    const end = scheme === "https" ? "close" : "finish";
    const serve = (socket: Socket): void => {
      socket.on("error", () => {}).once(end, ended.resolve);
      socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\n${answer}`));
    };
    const server = scheme === "https" ? createTlsServer(certificate, serve) : createServer(serve);
    const { body: received } = await reader.fetch(`${scheme}://localhost:${await listening(server)}/`);
    await ended.promise;
    for (let turn = 0; turn < 10; turn += 1) await nextTurn(); // the client hears of it, too
    let read = 0;
    const chunks = received?.getReader() ?? expect.unreachable();
    for (let next = await chunks.read(); !next.done; next = await chunks.read()) read += next.value.length;
    expect(read).toBe(bytes);
  });
});

interface Reader {
  fetch(url: string): Promise<Pick<WireResponse, "body">>;
  close(): Promise<void>;
}

it("a connection of TLS that its server resets tells the error before it closes", async () => {
  let reset = (): void => {};
  const server = createTlsServer(certificate, (socket) => void socket.on("error", () => {}).resume());
  server.on("connection", (tcp: Socket) => {
    reset = () => void tcp.resetAndDestroy();
  });
  const options = { protocol: "https:", hostname: "localhost", port: String(await listening(server)) };
  const secure = await new Promise<Socket>((resolve, reject) => {
    const connectTcp = undici.buildConnector({});
    const settings = { connectTcp, tls: { ca: certificate.cert }, timeoutMs: 10_000, turns: answerTurns };
    connectInTurn(undici, { ...settings, callerOf: (origin) => origin })(options, (error, socket) =>
      error === null ? resolve(socket) : reject(error),
    );
  });
  const told: string[] = [];
  for (const event of ["error", "close"]) secure.on(event, () => told.push(event));
  const closed = new Promise((resolve) => secure.once("close", resolve));
  reset();
  secure.write("x".repeat(100)); // fails before the reset is read
  await closed;
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(told).toEqual(["error", "close"]);
});

it("a call over TLS fails at once whose server sends a record that is broken", async () => {
  const connections: Socket[] = [];
  const server = createTlsServer(certificate, (secure) => {
    secure.on("error", () => {}).once("data", () => connections[0]?.write("this is no record of TLS"));
  });
  server.on("connection", (tcp: Socket) => connections.push(tcp));
  const called = await call("fetch", `https://localhost:${await listening(server)}`, {
    ca: certificate.cert,
  });
  expect(await reasonsOf(called)).toContain("bad record type");
  await expect.poll(() => connections[0]?.destroyed).toBe(true);
});

it("a call fails whose proxy sends more than its answer to CONNECT, and does not connect again and again", async () => {
  let connections = 0;
  const proxy = createServer((socket) => {
    connections += 1;
    socket
      .on("error", () => {})
      .once("data", () => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"));
  });
  useProxy(`http://127.0.0.1:${await listening(proxy)}`);
  const { answer, close } = callByFetch("http://agent.example/", {});
  onTestFinished(() => close());
  expect(await reasonsOf({ answer, close })).toContain("sent bytes before it was asked");
  expect(connections).toBe(1);
});

it("a server that sends interim answers without an end is not read on", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {}).write("HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n".repeat(17));
  });
  const called = await call("fetch", `http://127.0.0.1:${await listening(server)}`);
  expect(await reasonsOf(called)).toContain("the server sent too many interim answers");
});

it("a client's certificate, and those that it trusts, are used behind a proxy of SOCKS5", async () => {
  const server = createTlsServer(
    { ...certificate, requestCert: true, rejectUnauthorized: false },
    (socket) => {
      socket
        .on("error", () => {})
        .once("data", () => {
          const { CN } = socket.getPeerCertificate().subject ?? {};
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${String(CN).length}\r\n\r\n${CN}`);
        });
    },
  );
  const origin = `https://localhost:${await listening(server)}`;
  const proxy = createServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", () => {
        socket.write(Buffer.of(5, 0)); // without a password
        socket.once("data", (request: Buffer) => {
          const upstream = connect(request.readUInt16BE(request.length - 2), "127.0.0.1", () => {
            socket.write(Buffer.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0));
            upstream.pipe(socket).pipe(upstream);
          });
          upstream.on("error", () => {}).on("close", () => socket.destroy());
        });
      });
  });
  useProxy(`socks5://127.0.0.1:${await listening(proxy)}`);
  const { answer, close } = callByFetch(origin, { ...certificate, ca: certificate.cert });
  onTestFinished(close);
  expect(await answer).toBe("localhost");
});
