import { createSecureServer } from "node:http2";
import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from "node:net";
import { webTransports } from "@a2a-connect/client/internal";
import { text } from "@a2a-connect/core";
import { setServiceParameters } from "@a2a-connect/core/internal";
import { A2AService, Role } from "@a2a-connect/proto";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createAddressGuard, targetOf } from "../network/address-guard.ts";
import { guardLookup } from "../network/guarded-fetch.ts";
import { serve } from "../serve.ts";
import type { ServeOptions } from "../serve-options.ts";
import { type GrpcGuard, grpcTransport } from "./grpc-transport.ts";
import { type NodePlatformOptions, nodePlatform } from "./node-platform.ts";

const bindings = [
  "JSONRPC",
  "HTTP+JSON",
  "GRPC",
  "urn:a2a-connect:binding:connect:v1",
  "urn:a2a-connect:binding:grpc-web:v1",
] as const;

for (const binding of bindings) {
  describe(`${binding} in Node`, () => {
    it("calls an agent in cleartext", async () => {
      await using agent = await serveEcho();
      await using caller = call(binding, agent, { cardUrl: new URL(agent.url) });
      expect(await caller.conversation()).toEqual(["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    });

    it("calls an agent over TLS, with its authority", async () => {
      const tls = createSelfSignedCertificate();
      await using agent = await serveEcho({ tls });
      await using caller = call(binding, agent, { cardUrl: new URL(agent.url), tls: { ca: tls.cert } });
      expect(await caller.conversation()).toHaveLength(4);
    });

    it("refuses a certificate of nobody's, unless it is told to take any", async () => {
      await using agent = await serveEcho({ tls: createSelfSignedCertificate() });
      const cardUrl = new URL(agent.url);
      await using careful = call(binding, agent, { cardUrl });
      const error = await failure(careful.getTask());
      expect(error.code).toBe(Code.Unavailable);
      expect(codesOf(error)).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
      await using careless = call(binding, agent, { cardUrl, tls: { insecure: true } });
      expect(await careless.conversation()).toHaveLength(4);
    });

    it("asks an agent at an address for a certificate of this address", async () => {
      const codesFrom = async (host: string) => {
        const tls = createSelfSignedCertificate([host]);
        await using agent = await serveEcho({ tls });
        const cardUrl = new URL(agent.url.replace("localhost", "127.0.0.1"));
        const url = binding === "GRPC" ? cardUrl.host : cardUrl.href;
        await using caller = callUrl(binding, url, { cardUrl, tls: { ca: tls.cert } });
        return codesOf(await failure(caller.getTask()));
      };
      expect(await codesFrom("127.0.0.1")).toEqual([]); // the agent has no such task
      expect(await codesFrom("localhost")).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
    });

    it("rejects each call when its own certificate is none", async () => {
      await using agent = await serveEcho({ tls: createSelfSignedCertificate() });
      const tls = { insecure: true, cert: "no PEM", key: "no PEM" };
      await using caller = call(binding, agent, { cardUrl: new URL(agent.url), tls });
      for (let count = 0; count < 2; count += 1) await failure(caller.getTask());
    });

    it("gives up a connection that does not come about", async () => {
      await using mute = await serveTcp(() => {});
      const url = binding === "GRPC" ? `127.0.0.1:${mute.port}` : `https://127.0.0.1:${mute.port}`;
      const cardUrl = new URL("https://127.0.0.1");
      await using caller = callUrl(binding, url, { cardUrl, connectTimeoutMs: 100 });
      const error = await failure(caller.getTask());
      expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: "the server could not be reached" });
      expect(codesOf(error)).toContain(binding === "GRPC" ? "ETIMEDOUT" : "UND_ERR_CONNECT_TIMEOUT");
    });

    it("does not reach this machine when the card of another is not trusted", async () => {
      await using agent = await serveEcho();
      const cardUrl = new URL("http://agent.example/");
      await using caller = call(binding, agent, { cardUrl, untrusted: true });
      const error = await failure(caller.getTask());
      expect([error.code, codesOf(error)]).toEqual([Code.PermissionDenied, ["ERR_ADDRESS_REFUSED"]]);
      await using allowed = call(binding, agent, { cardUrl, untrusted: true, allow: ["localhost"] });
      expect(await allowed.conversation()).toHaveLength(4);
    });

    it("reaches this machine when the card that is not trusted is its own", async () => {
      await using agent = await serveEcho();
      await using caller = call(binding, agent, { cardUrl: new URL(agent.url), untrusted: true });
      expect(await caller.conversation()).toHaveLength(4);
    });
  });
}

describe("GRPC in Node", () => {
  it("is Unavailable when nobody listens", async () => {
    const server = await serveTcp(() => {});
    await server[Symbol.asyncDispose]();
    await using caller = callUrl("GRPC", `127.0.0.1:${server.port}`);
    const error = await failure(caller.getTask());
    expect([error.code, codesOf(error)]).toEqual([Code.Unavailable, ["ECONNREFUSED"]]);
  });

  for (const [how, answer] of [
    ["is closed at once", (socket: Socket) => socket.end()],
    ["is reset", (socket: Socket) => socket.resetAndDestroy()],
    ["speaks another protocol", (socket: Socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ] as const) {
    it(`is Unavailable when the connection ${how}`, async () => {
      await using server = await serveTcp((socket) => socket.once("data", () => answer(socket)));
      await using caller = callUrl("GRPC", `127.0.0.1:${server.port}`);
      expect((await failure(caller.getTask())).code).toBe(Code.Unavailable);
    });
  }

  it("is Unavailable when a stream is cut off, and goes on over a new connection", async () => {
    await using agent = await serveEcho();
    const sockets = new Set<Socket>();
    await using proxy = await serveProxy(Number(new URL(agent.url).port), sockets);
    await using caller = callUrl("GRPC", `127.0.0.1:${proxy.port}`);
    const stream = caller.client.sendStreamingMessage({ message: messageOf("wait") })[Symbol.asyncIterator]();
    expect((await stream.next()).value?.payload.case).toBe("task");
    await stream.next();
    for (const socket of sockets) socket.destroy();
    expect((await failure(stream.next())).code).toBe(Code.Unavailable);
    expect(await caller.conversation()).toHaveLength(4);
  });

  it("connects to no address that the guard does not permit", async () => {
    let connections = 0;
    await using server = await serveTcp(() => {
      connections += 1;
    });
    const lookup: LookupFunction = (_, __, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]);
    const addresses = createAddressGuard({ allowHttp: true });
    const guard: GrpcGuard = {
      refuseUrl: addresses.refuseUrl,
      lookupFor: (url) => guardLookup(addresses, targetOf(url), lookup),
    };
    const wire = grpcTransport({ tls: {}, guard });
    const { transport, close } = wire.open({ ...settings, url: `http://agent.example:${server.port}` });
    const error = await failure(createClient(A2AService, transport).getTask({ id: "t1" }));
    expect(error).toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: "agent.example leads to an address that is not public",
    });
    expect(connections).toBe(0);
    close();
  });

  it("cancels what is in flight when it is closed, and what comes later", async () => {
    await using agent = await serveEcho();
    await using caller = call("GRPC", agent, { cardUrl: new URL(agent.url) });
    const waiting = failure(caller.client.sendMessage({ message: messageOf("wait") }));
    expect(await caller.conversation()).toHaveLength(4);
    caller.close();
    expect(await waiting).toMatchObject({ code: Code.Canceled, rawMessage: "the client was closed" });
    expect((await failure(caller.getTask())).code).toBe(Code.Canceled);
  });

  it("leaves an agent's own errors alone", async () => {
    await using agent = await serveEcho();
    await using caller = call("GRPC", agent, { cardUrl: new URL(agent.url) });
    expect(await failure(caller.getTask())).toMatchObject({
      code: Code.NotFound,
      rawMessage: "there is no such task",
    });
  });
});

describe("client certificates", () => {
  for (const binding of ["JSONRPC", "GRPC"] as const) {
    it(`are shown over ${binding}`, async () => {
      const [server, client] = [createSelfSignedCertificate(), createSelfSignedCertificate()];
      await using port = await serveMutualTls(server, client.cert);
      const url = binding === "GRPC" ? `localhost:${port.port}` : `https://localhost:${port.port}`;
      const cardUrl = new URL("https://localhost");
      await using known = callUrl(binding, url, { cardUrl, tls: { ca: server.cert, ...client } });
      await failure(known.getTask()); // what is served is no agent
      expect(port.seen).toEqual(["localhost"]);
      await using unknown = callUrl(binding, url, { cardUrl, tls: { ca: server.cert } });
      expect((await failure(unknown.getTask())).code).toBe(Code.Unavailable);
      expect(port.seen).toHaveLength(1);
    });
  }

  it("come with their keys", () => {
    const { cert, key } = createSelfSignedCertificate();
    for (const tls of [{ cert }, { key }]) {
      expect(() => nodePlatform({ tls })).toThrow("a client certificate takes both cert and key");
    }
  });
});

const settings = {
  interceptors: [],
  maxResponseBytes: 1024 * 1024,
  connectTimeoutMs: 5_000,
  fetch: globalThis.fetch,
};

type Served = Awaited<ReturnType<typeof serve>>;

function call(binding: string, agent: Served, options: NodePlatformOptions) {
  const found = agent.card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === binding);
  return callUrl(binding, found?.url ?? "", options);
}

/** A client as the library builds it: the platform's wires first, the guard where the card is not trusted. */
function callUrl(binding: string, url: string, options: NodePlatformOptions = {}) {
  const platform = nodePlatform(options);
  const wire = [...(platform.transports ?? []), ...webTransports].find((each) => each.binding === binding);
  const fetch = options.untrusted === true ? platform.guardedFetch : platform.fetch;
  if (wire === undefined || fetch === undefined) throw new Error(`there is no ${binding}`);
  const open = () =>
    wire.open({
      ...settings,
      url,
      fetch,
      connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
      interceptors: [
        (next) => (request) => {
          setServiceParameters(request.header);
          return next(request);
        },
      ],
    });
  let opened: ReturnType<typeof open> | undefined;
  const client = () => {
    opened ??= open();
    return createClient(A2AService, opened.transport);
  };
  return {
    get client() {
      return client();
    },
    getTask: async () => client().getTask({ id: "t1" }),
    async conversation() {
      const seen: (string | undefined)[] = [];
      for await (const { payload } of client().sendStreamingMessage({ message: messageOf("hello") })) {
        seen.push(payload.case);
      }
      return seen;
    },
    close: () => opened?.close(),
    async [Symbol.asyncDispose]() {
      opened?.close();
      await platform.close();
    },
  };
}

function messageOf(words: string) {
  return { messageId: crypto.randomUUID(), role: Role.USER, parts: [text(words)] };
}

/** An agent that says what it is told, or waits when it is told to. */
function serveEcho(options: Pick<ServeOptions, "tls"> = {}) {
  const agent = defineAgent({
    card: { name: "Echo", skills: [{ id: "echo", name: "Echo", description: "Echoes", tags: ["echo"] }] },
    async *execute(turn) {
      yield turn.working();
      if (turn.text === "wait") {
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      }
      yield turn.artifact({ name: "echo", parts: turn.message.parts });
    },
  });
  return serve(agent, { store: createMemoryTaskStore(), ...options }).then((served) => ({
    ...served,
    [Symbol.asyncDispose]: () => served.close({ graceMs: 0, timeoutMs: 100 }),
  }));
}

async function serveTcp(onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    onSocket(socket);
  });
  return listenOn(server, sockets);
}

async function serveProxy(port: number, sockets: Set<Socket>) {
  const { connect } = await import("node:net");
  return serveTcp((socket) => {
    const upstream = connect(port, "127.0.0.1").on("error", () => {});
    sockets.add(socket).add(upstream);
    socket.pipe(upstream).pipe(socket);
    socket.on("close", () => upstream.destroy());
  });
}

async function serveMutualTls({ cert, key }: { cert: string; key: string }, clientCert: string) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createSecureServer({
    cert,
    key,
    ca: clientCert,
    requestCert: true,
    rejectUnauthorized: true,
    allowHTTP1: true,
  });
  server.on("secureConnection", (socket) => {
    sockets.add(socket.on("error", () => {}));
    seen.push(socket.getPeerCertificate().subject.CN);
  });
  server.on("request", (_, response) => {
    response.writeHead(404);
    response.end();
  });
  return { ...(await listenOn(server, sockets)), seen };
}

async function listenOn(server: Server, sockets: ReadonlySet<Socket>) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  const thrown: unknown = await call.then(
    () => expect.unreachable("the call was answered"),
    (error: unknown) => error,
  );
  return thrown instanceof ConnectError ? thrown : ConnectError.from(thrown, Code.PermissionDenied);
}

/** The system's codes of an error and what caused it. */
function codesOf(error: Error): string[] {
  const codes: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") codes.push(at.code);
  }
  return codes;
}
