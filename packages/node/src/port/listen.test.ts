import { once } from "node:events";
import { get } from "node:https";
import { type AddressInfo, connect as connectTcp, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect } from "node:tls";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createGate, type Echo, echo, json } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";
import { defaultLimits } from "./listen-options.ts";

describe("listen", () => {
  it("names a wildcard host localhost in its URL", async () => {
    await using listener = await listen(echo, { host: "0.0.0.0" });
    expect(listener.url).toBe(`http://localhost:${listener.port}`);
    expect((await fetch(listener.url)).status).toBe(200);
  });

  it("reaches the default host by name and by number", async () => {
    await using listener = await listen(echo);
    expect(listener.url).toBe(`http://localhost:${listener.port}`);
    expect((await fetch(listener.url)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${listener.port}`)).status).toBe(200);
  });

  it("closes further connections of a caller that has 7/8 of all, and no other's", async () => {
    const warnings: string[] = [];
    await using listener = await listen(echo, {
      maxConnections: 16,
      onWarning: (warning) => warnings.push(warning),
    });
    const open = async (localAddress: string) => {
      const socket = connectTcp({ port: listener.port, host: "127.0.0.1", localAddress });
      onTestFinished(() => void socket.destroy());
      socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      const [answer] = await Promise.race([once(socket, "data"), once(socket, "close")]);
      return { socket, taken: answer instanceof Buffer };
    };
    const first = await open("127.0.0.1");
    for (let at = 1; at < 14; at += 1) expect((await open("127.0.0.1")).taken).toBe(true);
    for (let at = 0; at < 3; at += 1) expect((await open("127.0.0.1")).taken).toBe(false);
    const other = await open("127.0.0.2");
    expect(other.taken).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("maxConnections")]);
    for (const { socket } of [first, other]) socket.destroy();
    await expect.poll(async () => (await open("127.0.0.1")).taken).toBe(true);
  });

  it.each(Object.keys(defaultLimits))(
    "has its default for %s when that is given as undefined",
    async (name) => {
      const given: object = { [name]: undefined }; // as programs without exactOptionalPropertyTypes may
      await using listener = await listen(echo, given);
      const { status } = await fetch(listener.url, { method: "POST", body: "x".repeat(5_000) });
      using session = openHttp2(listener.url);
      const { headers } = await callHttp2(session, { ":method": "POST" }, Buffer.alloc(5_000));
      expect([status, headers[":status"]]).toEqual([200, 200]);
    },
  );

  it("rejects when the port is taken", async () => {
    await using listener = await listen(echo);
    await expect(listen(echo, { port: listener.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it("goes on in a program that has replaced its timers, as tests do", async () => {
    await using listener = await listen(async ({ url }) => ({
      status: 200,
      body: `this is ${url.split("/").at(-1)}`,
    }));
    using connection = await openRawConnection(listener.port);
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    for (const word of ["first", "second"]) {
      await connection.write(`GET /${word} HTTP/1.1\r\nhost: a\r\n\r\n`);
      await connection.until(`this is ${word}`);
      vi.runOnlyPendingTimers(); // one that a server of another file has left fires once
      // One that comes again in each turn of the event loop would come a thousand times a second of theirs.
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it("serves HTTP/1.1 and HTTP/2 on one cleartext port", async () => {
    await using listener = await listen(echo);
    const overHttp1: Echo = await (
      await fetch(`${listener.url}/a?b=c`, { method: "POST", body: "12345" })
    ).json();
    expect(overHttp1).toMatchObject({
      httpVersion: "1.1",
      method: "POST",
      url: `${listener.url}/a?b=c`,
      bytes: 5,
    });
    using session = openHttp2(listener.url);
    const answer = await callHttp2(
      session,
      { ":path": "/a?b=c", ":method": "POST", "x-a": "1" },
      Buffer.from("12345"),
    );
    const overHttp2: Echo = JSON.parse(answer.body);
    expect(answer.headers[":status"]).toBe(200);
    expect(overHttp2).toMatchObject({
      httpVersion: "2.0",
      method: "POST",
      url: `${listener.url}/a?b=c`,
      bytes: 5,
    });
    expect(overHttp2.header).toEqual({ "x-a": "1" });
  });

  it("serves HTTP/1.1 and HTTP/2 over TLS, by ALPN", async () => {
    const tls = createSelfSignedCertificate();
    await using listener = await listen(echo, { tls });
    expect(listener.url).toBe(`https://localhost:${listener.port}`);
    const response = await new Promise<string>((resolve, reject) => {
      get(listener.url, { ca: tls.cert, agent: false }, (message) => resolve(text(message))).on(
        "error",
        reject,
      );
    });
    expect(JSON.parse(response)).toMatchObject({ httpVersion: "1.1", url: `${listener.url}/` });
    using session = openHttp2(listener.url, tls.cert);
    const answer = await callHttp2(session, { ":path": "/" });
    expect(JSON.parse(answer.body)).toMatchObject({ httpVersion: "2.0", url: `${listener.url}/` });
  });

  it("answers over TLS a caller that has closed its sending side", async () => {
    const tls = createSelfSignedCertificate();
    const halfClosed = createGate();
    const slow = async () => {
      await halfClosed.opened;
      return json("still here");
    };
    await using listener = await listen(slow, { tls, halfCloseTimeoutMs: 10_000 });
    using connection = await openRawConnection(listener.port, { ca: tls.cert, allowHalfOpen: true });
    const request = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    connection.socket.end(request, () => setTimeout(halfClosed.open, 50));
    expect(await connection.closed()).toContain('"still here"');
  });

  it("takes a ClientHello that comes in records of one byte, and closes on one that is too long", async () => {
    const tls = createSelfSignedCertificate();
    await using listener = await listen(echo, { tls });
    const hello = await recordHello();
    using divided = await openRawConnection(listener.port);
    for (const byte of hello.subarray(5)) await divided.write(Buffer.from([22, 3, 1, 0, 1, byte]));
    expect(await divided.until("\x16\x03\x03")).toBeTruthy(); // the record of the ServerHello
    using long = await openRawConnection(listener.port);
    await long.write(Buffer.from([22, 3, 1, 0x40, 0, 1, 1, 0, 0, ...new Uint8Array(2 ** 14 - 4)]));
    expect(await long.closed()).toBe("");
  });

  it("begins few handshakes of TLS in a turn of the event loop", async () => {
    await using listener = await listen(echo, { tls: createSelfSignedCertificate() });
    const hello = await recordHello();
    using opened = new DisposableStack(); // ended before the listener, which waits for its connections
    const connectOne = async () => opened.use(await openRawConnection(listener.port));
    const clients = await Promise.all(Array.from({ length: 200 }, connectOne));
    let answered = 0;
    for (const { socket } of clients) socket.once("data", () => (answered += 1));
    for (let turn = 0; turn < 2 * clients.length; turn += 1) await nextTurn(); // a connection is accepted in each
    for (const { socket } of clients) socket.write(hello);
    let most = 0;
    for (let before = 0; answered < clients.length; before = answered) {
      await nextTurn();
      most = Math.max(most, answered - before);
    }
    expect(most).toBeLessThanOrEqual(64);
  });

  it("accepts connections between the handshakes of a caller, so that another one does not wait for all of them", async () => {
    await using listener = await listen(echo, { tls: createSelfSignedCertificate() });
    const hello = await recordHello();
    using opened = new DisposableStack(); // ended before the listener, which waits for its connections
    const connectOne = async () => opened.use(await openRawConnection(listener.port));
    const clients = await Promise.all(Array.from({ length: 600 }, connectOne));
    let answered = 0;
    const first = Promise.withResolvers<void>();
    for (const { socket } of clients) {
      socket.once("data", () => {
        answered += 1;
        first.resolve();
      });
    }
    for (let turn = 0; turn < 2 * clients.length; turn += 1) await nextTurn(); // a connection is accepted in each
    for (const { socket } of clients) socket.write(hello);
    await first.promise;
    const before = answered;
    for (let count = 0; count < 300; count += 1) {
      opened.adopt(connectTcp(listener.port, "127.0.0.1"), (socket) => void socket.destroy());
    }
    const other = get(listener.url, { localAddress: "127.0.0.2", agent: false, rejectUnauthorized: false });
    const [response] = await once(other, "response");
    response.destroy();
    expect(answered - before).toBeLessThan(150); // it would be all of them
  });

  it("keeps set-cookie fields apart and joins others", async () => {
    const header = new Headers([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["vary", "x"],
      ["vary", "y"],
    ]);
    await using listener = await listen(async () => ({ status: 200, header }));
    const overHttp1 = await fetch(listener.url);
    expect(overHttp1.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(overHttp1.headers.get("vary")).toBe("x, y");
    using session = openHttp2(listener.url);
    const { headers } = await callHttp2(session, {});
    expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(headers.vary).toBe("x, y");
  });

  it("drops on HTTP/2 what speaks about a connection", async () => {
    const header = new Headers({ connection: "keep-alive", "keep-alive": "timeout=5", "x-kept": "1" });
    await using listener = await listen(async () => ({ status: 200, header }));
    using session = openHttp2(listener.url);
    const { headers } = await callHttp2(session, {});
    expect(headers).toMatchObject({ ":status": 200, "x-kept": "1" });
    expect(headers.connection).toBeUndefined();
  });

  it("sends a bodiless status and HEAD without a body", async () => {
    await using listener = await listen(async ({ method }) =>
      method === "HEAD" ? json({ a: 1 }) : { status: 204 },
    );
    using session = openHttp2(listener.url);
    const head = await fetch(listener.url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "7", ""]);
    const noContent = await fetch(listener.url);
    expect([noContent.status, noContent.headers.get("content-length"), await noContent.text()]).toEqual([
      204,
      null,
      "",
    ]);
    const headHttp2 = await callHttp2(session, { ":method": "HEAD" });
    expect([headHttp2.headers["content-length"], headHttp2.body]).toEqual(["7", ""]);
    expect((await callHttp2(session, {})).headers[":status"]).toBe(204);
  });

  it("answers a throwing handler with a fixed JSON 500 and tells the operator alone", async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const secret = new Error("the password is xyzzy");
    await using listener = await listen(() => Promise.reject(secret), { onError });
    using session = openHttp2(listener.url);
    const response = await fetch(listener.url);
    const body = { error: { code: 500, status: "INTERNAL", message: "Internal error" } };
    expect([response.status, await response.json()]).toEqual([500, body]);
    const answer = await callHttp2(session, {});
    expect([answer.headers[":status"], JSON.parse(answer.body)]).toEqual([500, body]);
    expect(errors).toEqual([secret, secret]);
  });

  it.each([
    [
      "at once",
      () => {
        throw new Error("the log failed");
      },
    ],
    ["later", () => Promise.reject(new Error("the log failed"))],
  ])("goes on when what takes its errors and warnings fails %s", async (_, fail) => {
    const options = { onError: fail, onWarning: fail, maxConnections: 8 };
    await using listener = await listen(() => Promise.reject(new Error("xyzzy")), options);
    const connections = await Promise.all(Array.from({ length: 7 }, () => openRawConnection(listener.port)));
    using refused = await openRawConnection(listener.port);
    await refused.closed();
    for (const connection of connections) connection[Symbol.dispose]();
    await expect
      .poll(() =>
        fetch(listener.url).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(500);
  });

  it("passes header values on byte by byte", async () => {
    await using listener = await listen(echo);
    using connection = await openRawConnection(listener.port);
    await connection.write(
      Buffer.from("GET / HTTP/1.1\r\nhost: a\r\nx-name: gr\xfc\xdf\r\nconnection: close\r\n\r\n", "latin1"),
    );
    const received = Buffer.from(await connection.closed(), "latin1").toString("utf8");
    expect(received).toContain('"x-name":"gr\u00fc\u00df"');
  });

  it("refuses header fields over the limit with 431", async () => {
    await using listener = await listen(echo, { maxHeaderBytes: 8 * 1024 });
    const big = "x".repeat(20_000);
    const want = { error: { status: "RESOURCE_EXHAUSTED" } };
    const response = await fetch(listener.url, { headers: { "x-big": big } });
    expect([response.status, await response.json()]).toMatchObject([431, want]);
    using session = openHttp2(listener.url);
    const answer = await callHttp2(session, { "x-big": big });
    expect([answer.headers[":status"], JSON.parse(answer.body)]).toMatchObject([431, want]);
  });

  it("refuses a header field with too long a name with 431, and nothing else of its connection", async () => {
    const gate = createGate();
    await using listener = await listen(async (request) => {
      await gate.opened;
      return await echo(request);
    });
    using session = openHttp2(listener.url);
    const other = callHttp2(session, {});
    const answer = await callHttp2(session, { ["x".repeat(2_000)]: "x" });
    expect(answer.headers[":status"]).toBe(431);
    gate.open();
    expect((await other).headers[":status"]).toBe(200);
    expect((await callHttp2(session, {})).headers[":status"]).toBe(200);
  });
});

/** What a client of TLS sends first. */
async function recordHello(): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect({ port: (server.address() as AddressInfo).port }); // it listens on TCP
  client.on("error", () => undefined);
  const [socket] = await once(server, "connection");
  const [hello] = await once(socket, "data");
  client.destroy();
  server.close();
  return hello;
}
