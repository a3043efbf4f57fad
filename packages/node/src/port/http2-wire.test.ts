import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import type { HttpHandler } from "@a2a-connect/bindings";
import { createCertificateAuthority, createSelfSignedCertificate } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { aborted, createGate, readBytes } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import {
  formatFrame,
  frameTypes,
  goAway,
  openReadByParser,
  openSilentHttp2,
  openSlowReader,
  parseFrames,
  requestFrame,
  windowUpdate,
} from "../../test-support/http2-frames.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { Http2Wire } from "./http2-wire.ts";
import { listen } from "./listen.ts";

describe("the parser gets a connection", () => {
  function open() {
    const socket = new PassThrough() as PassThrough & Socket;
    const turns: (() => void)[] = [];
    const seen: number[] = [];
    const state = { isStopped: false, counted: 0 };
    const wire = new Http2Wire(socket, {
      countParsing: () => {
        state.counted += 1;
      },
      waitIfStopped: (readOn) => {
        if (state.isStopped) turns.push(readOn);
        return state.isStopped;
      },
    });
    wire.on("data", ({ length }: Buffer) => seen.push(length));
    return { socket, wire, turns, seen, state };
  }

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  };

  it("in pieces of 16 KiB, and what each takes is counted before the next", async () => {
    const { socket, wire, seen, state } = open();
    wire.on("data", () => expect.soft(state.counted).toBe(seen.length - 1));
    wire.resume();
    socket.write(Buffer.alloc(40_000));
    await settle();
    expect([seen, state.counted, wire.bytesRead]).toEqual([[16_384, 16_384, 7_232], 3, 40_000]);
  });

  it("when its caller has its turn, and once for each", async () => {
    const { socket, wire, turns, seen, state } = open();
    wire.on("data", () => {
      state.isStopped = true;
    });
    wire.resume();
    socket.write(Buffer.alloc(40_000));
    for (const pieces of [1, 2, 3]) {
      await settle();
      wire.pause();
      wire.resume(); // a write goes out
      await settle();
      expect([seen.length, turns.length]).toEqual([pieces, pieces === 3 ? 0 : 1]);
      state.isStopped = false;
      turns.pop()?.();
    }
  });

  it("when it takes more, and then the end", async () => {
    const { socket, wire, seen } = open();
    const ended = vi.fn();
    wire.on("end", ended).on("data", () => wire.pause());
    wire.resume();
    socket.end(Buffer.alloc(20_000));
    await settle();
    expect([seen, ended.mock.calls.length]).toEqual([[16_384], 0]);
    wire.resume();
    await settle();
    wire.resume();
    await settle();
    expect([seen, ended.mock.calls.length]).toEqual([[16_384, 3_616], 1]);
  });
});

it("of what connections of one caller bring, and Node tells nothing of, little is parsed in a turn of the event loop", async () => {
  const connections = 8;
  const bytes = 512 * 1024;
  await using listener = await listen(async () => ({ status: 200 }));
  using _others = await openReadByParser(listener.port);
  using opened = new DisposableStack();
  const sessions: ServerHttp2Session[] = [];
  const note = (message: unknown): void => {
    const { session } = (message as { stream: ServerHttp2Stream }).stream;
    if (session !== undefined) sessions.push(session as ServerHttp2Session);
  };
  subscribe("http2.server.stream.created", note);
  opened.defer(() => void unsubscribe("http2.server.stream.created", note));
  const all = await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = opened.use(await openRawConnection(listener.port));
      await openSilentHttp2(connection);
      await connection.write(requestFrame(1));
      return connection;
    }),
  );
  await expect.poll(() => sessions.length).toBe(connections);
  const parsed = (): number => sessions.reduce((sum, { socket }) => sum + socket.bytesRead, 0);
  const before = parsed();
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 1)); // so that each piece takes a millisecond
  onTestFinished(() => clock.mockRestore());
  // The header of a stream that is closed: the parser decodes it, so that its table stays right.
  const payload = Buffer.alloc(16 * 1024, Buffer.of(0x41, 0));
  const header = formatFrame({ type: frameTypes.headers, flags: 0x5, streamId: 1, payload });
  const packet = Buffer.concat(Array.from({ length: bytes / payload.length }, () => header));
  for (const connection of all) void connection.write(packet);
  let seen = before;
  let most = 0;
  while (seen < before + connections * packet.length) {
    await nextTurn();
    const now = parsed();
    most = Math.max(most, now - seen);
    seen = now;
  }
  const piecesInATurn = 5; // for 5 ms
  expect(most).toBeLessThanOrEqual(2 * piecesInATurn * 16 * 1024); // two of the server's turns may fall into one of ours
});

describe.each([
  ["cleartext", undefined],
  ["TLS", createSelfSignedCertificate()],
])("a call over a connection in pieces, in %s", (_, certificate) => {
  const secure = certificate && { ca: certificate.cert, ALPNProtocols: ["h2"] };
  const tls = certificate && { tls: certificate };

  it("brings a body of megabytes, and gets an answer of megabytes", async () => {
    const handler: HttpHandler = async (request) => ({
      status: 200,
      body: await readBytes(request, 16 * 2 ** 20),
      trailer: new Headers({ last: "yes" }),
    });
    await using listener = await listen(handler, tls);
    using _others = await openReadByParser(listener.port, secure);
    using session = openHttp2(listener.url, certificate?.cert);
    const body = "0123456789abcdef".repeat(2 ** 18);
    const calls = [1, 2].map(() => callHttp2(session, { ":method": "POST" }, Buffer.from(body)));
    for (const answer of await Promise.all(calls)) {
      expect([answer.body === body, answer.trailers["last"]]).toEqual([true, "yes"]);
    }
  });

  it.each(["destroy", "resetAndDestroy", "end"] as const)(
    "ends when its caller has gone by %s, and its connection with it",
    async (cut) => {
      const begun = createGate();
      const gone = Promise.withResolvers<unknown>();
      const handler: HttpHandler = async ({ signal }) => {
        begun.open();
        void aborted(signal).then(gone.resolve);
        return {
          status: 200,
          body: (async function* () {
            for (;;) {
              yield Buffer.alloc(1_000);
              await nextTurn();
            }
          })(),
        };
      };
      const listener = await listen(handler, { ...tls, pingIntervalMs: 0 });
      using _others = await openReadByParser(listener.port, secure);
      using connection = await openRawConnection(listener.port, secure);
      await openSilentHttp2(connection);
      await connection.write(requestFrame(1));
      await begun.opened;
      if (cut === "resetAndDestroy" && certificate !== undefined) connection.socket.destroy();
      else connection.socket[cut]();
      expect(await gone.promise).toMatchObject({ rawMessage: "the caller went away" });
      _others[Symbol.dispose]();
      await listener.close({ graceMs: 60_000, timeoutMs: 60_000 }); // no connection is left
    },
  );

  it("is whole where its caller has said GOAWAY, and goes on to send while the rest waits for it", async () => {
    const length = 500_000;
    await using listener = await listen(async () => ({ status: 200, body: Buffer.alloc(length) }), tls);
    using _others = await openReadByParser(listener.port, secure);
    using connection = await openRawConnection(listener.port, secure);
    await openSlowReader(connection);
    await connection.write(goAway);
    for (let turn = 0; turn < 100; turn += 1) {
      await nextTurn(); // the server has written all of it
      if (turn >= 50) await connection.write(windowUpdate(1_000));
    }
    connection.socket.resume();
    const frames = parseFrames(await connection.closed());
    const data = frames.flatMap(({ type, payload }) => (type === 0 ? [payload.length] : []));
    expect(data.reduce((sum, bytes) => sum + bytes, 0)).toBe(length);
  });

  it("goes on after GOAWAY of the server, whose port closes with its end", async () => {
    const begun = createGate();
    const gate = createGate();
    const handler: HttpHandler = async () => {
      begun.open();
      await gate.opened;
      return { status: 200, body: "answer" };
    };
    const listener = await listen(handler, tls);
    const others = await openReadByParser(listener.port, secure);
    using session = openHttp2(listener.url, certificate?.cert);
    const call = callHttp2(session, {});
    await begun.opened;
    others[Symbol.dispose]();
    const closed = listener.close({ graceMs: 60_000, timeoutMs: 60_000 });
    await once(session, "goaway");
    gate.open();
    expect((await call).body).toBe("answer");
    await closed;
  });
});

it("a connection in pieces has the address and the certificate of its caller", async () => {
  const authority = createCertificateAuthority();
  const certificate = createSelfSignedCertificate();
  const handler: HttpHandler = async ({ callerNetwork, clientCertificate }) => ({
    status: 200,
    body: JSON.stringify([callerNetwork, clientCertificate?.subject]),
  });
  await using listener = await listen(handler, { tls: { ...certificate, clientCa: authority.cert } });
  const secure = { ca: certificate.cert, ALPNProtocols: ["h2"] };
  using _others = await openReadByParser(listener.port, secure);
  const { cert, key } = authority.issue({ subject: "worker" });
  const tls = connectTls({
    port: listener.port,
    host: "127.0.0.1",
    servername: "localhost",
    ...secure,
    cert,
    key,
  });
  await once(tls, "secureConnect");
  using session = openHttp2(listener.url, tls);
  const stream = session.request({});
  expect(JSON.parse(await text(stream))).toEqual(["127.0.0.1", "CN=worker"]);
});
