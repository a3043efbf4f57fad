import type { LookupAddress } from "node:dns";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type LookupFunction } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { EnvHttpProxyAgent, getGlobalDispatcher, setGlobalDispatcher, fetch as undiciFetch } from "undici";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { type Echo, echo } from "../../test-support/handlers.ts";
import { type Listener, listen } from "../port/listen.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "./guarded-fetch.ts";

const refused = { code: "ERR_ADDRESS_REFUSED" };

describe("a guarded fetch (N-6)", () => {
  it("refuses a server on this machine before it connects", async () => {
    await using server = await countingServer();
    await using guarded = createGuardedFetch({ allowHttp: true });
    for (const host of ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "0.0.0.0", "[::1]"]) {
      await expect(guarded.fetch(`http://${host}:${server.port}/`), host).rejects.toMatchObject(refused);
    }
    expect(server.connections).toBe(0);
  });

  it("refuses a host that is longer than a domain name", async () => {
    await using guarded = createGuardedFetch();
    await expect(guarded.fetch(`https://${"\u4e00\u4e01".repeat(131)}/`)).rejects.toMatchObject(refused);
  });

  for (const allow of ["127.0.0.1", "127.0.0.0/8", "localhost"]) {
    it(`reaches a server on this machine that ${allow} allows`, async () => {
      await using listener = await listen(echo);
      await using guarded = createGuardedFetch({ allow: [allow] });
      const host = allow === "localhost" ? "localhost" : "127.0.0.1";
      const response = await guarded.fetch(`http://${host}:${listener.port}/hook`, {
        method: "POST",
        headers: new Headers({ authorization: "Bearer 1", "content-type": "application/a2a+json" }),
        body: new TextEncoder().encode("12345"),
      });
      const seen = (await response.json()) as Echo; // what the echo handler answers
      expect(seen).toMatchObject({ method: "POST", url: `http://${host}:${listener.port}/hook`, bytes: 5 });
      expect(seen.header).toMatchObject({ authorization: "Bearer 1", "content-length": "5" });
    });
  }

  it("reaches only the port that is allowed", async () => {
    await using allowed = await listen(echo);
    await using other = await countingServer();
    await using guarded = createGuardedFetch({ allow: [`127.0.0.1:${allowed.port}`] });
    expect((await guarded.fetch(`http://127.0.0.1:${allowed.port}`)).status).toBe(200);
    await expect(guarded.fetch(`http://127.0.0.1:${other.port}`)).rejects.toMatchObject(refused);
    expect(other.connections).toBe(0);
  });

  it.each([
    [16, 1, 204],
    [17, 1, "refused"],
    [2, 1_000, 204],
    [2, 2_000, "refused"],
  ])("takes at most 16 interim answers, of 16 KiB: %i of %i fields", async (interim, fields, outcome) => {
    const heads = `HTTP/1.1 103 Early Hints\r\n${"a:\r\n".repeat(fields)}\r\n`.repeat(interim);
    const server = createServer((socket) =>
      socket.on("error", () => {}).once("data", () => socket.end(`${heads}HTTP/1.1 204 No Content\r\n\r\n`)),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const status = guarded.fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.status,
      () => "refused",
    );
    expect(await status).toBe(outcome);
  });

  it("takes a Request as well", async () => {
    await using listener = await listen(echo);
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
    const request = new Request(`http://127.0.0.1:${listener.port}/`, {
      method: "PUT",
      body: "123",
      headers: { "x-a": "1" },
    });
    expect(await (await guarded.fetch(request)).json()).toMatchObject({
      method: "PUT",
      bytes: 3,
      header: { "x-a": "1" },
    });
    await expect(guarded.fetch(new Request("http://10.0.0.1/"))).rejects.toMatchObject(refused);
  });

  it("uses a connection for calls of one caller only", async () => {
    const callers: string[] = [];
    const connections = new Set<unknown>();
    const server = createHttpServer(({ socket, headers }, response) => {
      connections.add(socket);
      callers.push(`${headers.host} ${headers.authorization} ${connections.size}`);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // it listens on TCP
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
    for (const caller of ["alice", undefined, "alice", "bob/%41 \ud800", undefined, "bob/%41 \ud800"]) {
      await (await guarded.fetch(`http://127.0.0.1:${port}/`, {}, caller)).text();
    }
    expect(callers).toEqual([1, 2, 2, 3, 3, 3].map((count) => `127.0.0.1:${port} undefined ${count}`));
  });

  it("ends a call when its signal aborts", async () => {
    await using listener = await listen(() => new Promise(() => undefined));
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
    const signal = AbortSignal.timeout(50);
    const call = guarded.fetch(`http://127.0.0.1:${listener.port}`, { signal });
    await expect(call).rejects.toMatchObject({ name: "TimeoutError" });
    await listener.close({ graceMs: 0, timeoutMs: 0 });
  });
});

describe("a guarded fetch of a name (N-6)", () => {
  it("refuses a name that was public when it was registered and is private when it connects", async () => {
    await using server = await countingServer();
    const resolver = createResolver(["8.8.8.8"]);
    await using guarded = createGuardedFetch({ allowHttp: true, lookup: resolver.lookup });
    const url = `http://rebinding.example:${server.port}/`;
    expect(guarded.refuseUrl(url)).toBeUndefined();
    resolver.answer = ["127.0.0.1"];
    await expect(guarded.fetch(url)).rejects.toMatchObject({
      ...refused,
      message: "rebinding.example leads to an address that is not public",
    });
    expect([resolver.asked, server.connections]).toEqual([["rebinding.example"], 0]);
  });

  it("resolves once for a connection, and connects to what it checked", async () => {
    await using listener = await listen(echo, { host: "127.0.0.1" });
    // A second question would get an answer that leads nowhere.
    const resolver = createResolver(["127.0.0.1"], ["127.0.0.9"]);
    await using guarded = createGuardedFetch({
      allow: ["127.0.0.1"],
      allowHttp: true,
      lookup: resolver.lookup,
    });
    expect((await guarded.fetch(`http://hooks.example:${listener.port}/`)).status).toBe(200);
    expect(resolver.asked).toEqual(["hooks.example"]);
  });

  for (const answer of [
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["64:ff9b::7f00:1"],
    ["169.254.169.254"],
    ["100.64.0.1"],
    ["fd00::1", "10.0.0.1"],
    ["0.0.0.0"],
  ]) {
    it(`refuses a name that leads to ${answer.join(" and ")}`, async () => {
      await using guarded = createGuardedFetch({ lookup: createResolver(answer).lookup });
      const failure: unknown = await guarded.fetch("https://hooks.example/").catch((error: unknown) => error);
      expect(failure).toMatchObject(refused);
      for (const address of answer) expect(String(failure)).not.toContain(address);
    });
  }

  it("leaves out those of several addresses that are not permitted", async () => {
    await using listener = await listen(echo, { host: "127.0.0.1" });
    await using forbidden = await countingServer("127.0.0.2", listener.port);
    const lookup = createResolver(["127.0.0.2", "10.0.0.1", "::1", "127.0.0.1"]).lookup;
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"], allowHttp: true, lookup });
    expect((await guarded.fetch(`http://hooks.example:${listener.port}/`)).status).toBe(200);
    expect(forbidden.connections).toBe(0);
  });

  it("judges a single answer, too", async () => {
    const lookup: LookupFunction = (_name, _options, callback) => callback(null, "127.0.0.1", 4);
    await using listener = await listen(echo);
    await using strict = createGuardedFetch({ allowHttp: true, lookup });
    await expect(strict.fetch(`http://hooks.example:${listener.port}/`)).rejects.toMatchObject(refused);
    await using lenient = createGuardedFetch({ allow: ["hooks.example"], lookup });
    expect((await lenient.fetch(`http://hooks.example:${listener.port}/`)).status).toBe(200);
  });

  it("passes on that a name does not resolve", async () => {
    const failure = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    const lookup: LookupFunction = (_name, _options, callback) => callback(failure, "");
    await using guarded = createGuardedFetch({ lookup });
    await expect(guarded.fetch("https://gone.example/")).rejects.toMatchObject({ cause: failure });
  });

  it("proves by TLS the name of the URL, whatever address it resolved to and whatever `host` says", async () => {
    const { cert, key } = createSelfSignedCertificate(); // for `localhost`
    await using listener = await listen(echo, { tls: { cert, key } });
    const options: GuardedFetchOptions = { ca: cert, lookup: createResolver(["127.0.0.1"]).lookup };
    await using named = createGuardedFetch({ ...options, allow: ["localhost"] });
    expect((await named.fetch(`https://localhost:${listener.port}/`)).status).toBe(200);
    await using other = createGuardedFetch({ ...options, allow: ["hooks.example"] });
    for (const headers of [{}, { host: "localhost" }]) {
      await expect(other.fetch(`https://hooks.example:${listener.port}/`, { headers })).rejects.toMatchObject(
        {
          cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID" },
        },
      );
    }
  });
});

it("begins no second handshake that a server asks for (TLS 1.2)", async () => {
  const certificate = createSelfSignedCertificate();
  const server = createTlsServer({ ...certificate, maxVersion: "TLSv1.2" });
  const caller = new AbortController();
  let handshakes = 0;
  server.on("secureConnection", (socket) => {
    handshakes += 1;
    socket
      .on("error", () => {})
      .on("secure", () => {
        handshakes += 1;
      });
    socket.once("data", async () => {
      socket.renegotiate({}, () => {});
      for (let turn = 0; turn < 200; turn += 1) await nextTurn();
      caller.abort();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  await using guarded = createGuardedFetch({ allow: ["localhost"], ca: certificate.cert });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const request = { method: "POST", body: "x", signal: caller.signal };
  await expect(guarded.fetch(`https://localhost:${port}/`, request)).rejects.toMatchObject({
    cause: { message: "the server asks for another handshake of TLS" },
  });
  expect(handshakes).toBe(1);
});

describe("a guarded fetch's redirects (N-6)", () => {
  for (const redirect of [undefined, "follow", "manual"] as const) {
    it(`are answered, not followed (${redirect ?? "by default"})`, async () => {
      await using inside = await countingServer();
      await using listener = await redirectTo(`http://127.0.0.1:${inside.port}/admin`);
      await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
      const init = redirect === undefined ? {} : { redirect };
      const response = await guarded.fetch(`http://127.0.0.1:${listener.port}/`, init);
      expect([response.status, response.redirected]).toEqual([302, false]);
      expect(inside.connections).toBe(0);
    });
  }

  it("fail the call that asks for that", async () => {
    await using listener = await redirectTo("http://127.0.0.1/");
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
    await expect(
      guarded.fetch(`http://127.0.0.1:${listener.port}/`, { redirect: "error" }),
    ).rejects.toThrow();
  });
});

describe("a guarded fetch and proxies (N-6)", () => {
  const before = getGlobalDispatcher();
  afterEach(() => setGlobalDispatcher(before));

  it("does not ask one from the environment, nor a dispatcher that the caller brings", async () => {
    await using proxy = await countingServer();
    await using listener = await listen(echo);
    const httpProxy = `http://127.0.0.1:${proxy.port}`;
    const proxied = new EnvHttpProxyAgent({ httpProxy, noProxy: "", proxyTunnel: true });
    setGlobalDispatcher(proxied);
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
    const init = { dispatcher: proxied } as RequestInit; // an option of undici's, which the DOM does not know
    const authority = `127.0.0.1:${listener.port}`; // what else this process fetches meanwhile goes there, too
    expect((await guarded.fetch(`http://${authority}/`, init)).status).toBe(200);
    expect(proxy.heard).not.toContain(authority);
    const asked = undiciFetch(`http://${authority}/`, init as Parameters<typeof undiciFetch>[1]);
    await expect(asked).rejects.toThrow(); // it is in force otherwise
    expect(proxy.heard).toContain(authority);
    await proxied.destroy();
  });
});

it("resolves names of other callers while those of one do not resolve, and forgets what waited too long", async () => {
  await using listener = await listen(echo);
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  const lookup: LookupFunction = (name, _options, callback) => {
    asked.push(name);
    const answer = () => callback(null, [{ address: "127.0.0.1", family: 4 }]);
    if (name.startsWith("slow")) ends.push(answer);
    else answer();
  };
  await using guarded = createGuardedFetch({ allow: ["good.example"], lookup, connectTimeoutMs: 500 });
  const slow = ["slow-1.example", "slow-2.example", "slow-3.example"].map((host) =>
    guarded.fetch(`https://${host}/`, {}, "alice").catch(() => "failed"),
  );
  const good = await guarded.fetch(`http://good.example:${listener.port}/`, {}, "bob");
  expect([good.status, asked]).toEqual([200, ["slow-1.example", "good.example"]]);
  await Promise.all(slow);
  for (const end of ends) end();
  await guarded.fetch(`http://good.example:${listener.port}/`, { headers: { connection: "close" } }, "alice");
  expect(asked.slice(2).filter((name) => name.startsWith("slow"))).toEqual([]);
});

/** Answers with `answers`, one after the other, and the last of them for ever. */
function createResolver(...answers: string[][]): {
  asked: string[];
  answer: string[];
  lookup: LookupFunction;
} {
  const resolver = {
    asked: [] as string[],
    answer: answers.shift() ?? [],
    lookup: ((name, _options, callback) => {
      resolver.asked.push(name);
      const found: LookupAddress[] = resolver.answer.map((address) => ({
        address,
        family: address.includes(":") ? 6 : 4,
      }));
      resolver.answer = answers.shift() ?? resolver.answer;
      process.nextTick(() => callback(null, found));
    }) satisfies LookupFunction,
  };
  return resolver;
}

interface CountingServer extends AsyncDisposable {
  readonly port: number;
  connections: number;
  /** All that they have sent. */
  heard: string;
}

/** Refuses every request and counts them. */
async function countingServer(host = "127.0.0.1", port = 0): Promise<CountingServer> {
  const server = createServer((socket) => {
    counting.connections += 1;
    socket.on("error", () => undefined); // who hangs up first does not matter
    socket.setEncoding("latin1").on("data", (text: string) => {
      counting.heard += text;
      socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const counting = {
    port: (server.address() as AddressInfo).port, // a bound TCP server has one
    connections: 0,
    heard: "",
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return counting;
}

function redirectTo(location: string): Promise<Listener> {
  return listen(async () => ({ status: 302, header: new Headers({ location }) }));
}

it("a server whose certificates are long is not asked, before OpenSSL reads them", async () => {
  let asked = 0;
  const call = async (names: number): Promise<Response> => {
    const { cert, key } = createSelfSignedCertificate([
      "localhost",
      ...Array.from({ length: names }, (_, at) => `host-${at}.agents.example`),
    ]);
    await using listener = await listen(
      async (request) => {
        asked += 1;
        return echo(request);
      },
      { tls: { cert, key } },
    );
    const { port } = listener;
    await using guarded = createGuardedFetch({ allow: [`localhost:${port}`], ca: cert });
    return await guarded.fetch(`https://localhost:${port}/`, { method: "POST", body: "x".repeat(100_000) });
  };
  expect((await call(500)).status).toBe(200); // 12 KB
  await expect(call(2_000)).rejects.toMatchObject({ cause: { message: /more than 32768 bytes/ } });
  expect(asked).toBe(1);
});
