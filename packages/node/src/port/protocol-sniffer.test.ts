import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createSelfSignedCertificate, createTurnCount } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createGate, echo, json } from "../../test-support/handlers.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";
import { awaitHello, type FirstReads } from "./protocol-sniffer.ts";

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const emptySettings = "\0\0\0\x04\0\0\0\0\0";
const closeRequest = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

describe("one cleartext port", () => {
  it("speaks HTTP/2 when the preface comes byte by byte", async () => {
    await using listener = await listen(echo);
    using connection = await openRawConnection(listener.port);
    for (const byte of preface) await connection.write(byte);
    await connection.write(Buffer.from(emptySettings, "latin1"));
    // The server's first frame is its own SETTINGS (type 4 after three bytes of length); another acknowledges ours.
    const received = await connection.until("\x04\x01\0\0\0\0");
    expect(received.slice(3, 9)).toBe("\x04\0\0\0\0\0");
  });

  it("speaks HTTP/1.1 when the request comes byte by byte", async () => {
    await using listener = await listen(echo);
    using connection = await openRawConnection(listener.port);
    for (const byte of closeRequest) await connection.write(byte);
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("takes a method that begins like the preface for HTTP/1.1", async () => {
    await using listener = await listen(echo);
    using connection = await openRawConnection(listener.port);
    await connection.write("PR");
    await connection.write("OPFIND / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    expect(await connection.closed()).toContain('"method":"PROPFIND"');
  });

  it("closes a connection that ends before its protocol is known", async () => {
    await using listener = await listen(echo);
    using connection = await openRawConnection(listener.port);
    connection.socket.end("PRI");
    expect(await connection.closed()).toBe("");
  });

  it("answers a caller that has closed its sending side", async () => {
    const halfClosed = createGate();
    const slow = async (): ReturnType<typeof echo> => {
      await halfClosed.opened;
      return json("still here");
    };
    await using listener = await listen(slow, { halfCloseTimeoutMs: 10_000 });
    using connection = await openRawConnection(listener.port);
    connection.socket.end(closeRequest, () => setImmediate(halfClosed.open));
    expect(await connection.closed()).toContain('"still here"');
  });

  it("serves pipelined requests in order", async () => {
    const first = createGate();
    await using listener = await listen(async ({ url }) => {
      if (url.endsWith("/1")) await first.opened;
      else first.open();
      return json(new URL(url).pathname);
    });
    using connection = await openRawConnection(listener.port);
    await connection.write(
      "GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    );
    const received = await connection.closed();
    expect(received.indexOf('"/1"')).toBeGreaterThan(0);
    expect(received.indexOf('"/2"')).toBeGreaterThan(received.indexOf('"/1"'));
  });
});

describe.each([
  ["HTTP/2 in cleartext", {}, Buffer.from(preface)],
  ["TLS", { tls: createSelfSignedCertificate() }, Buffer.from([22, 3, 1, 1, 0, 1, 0, 0, 252, 3, 3])],
] as const)("hundreds of connections that say a byte at a time that they are for %s", (_, options, start) => {
  const connections = 200;

  it("are read in turns from their second packet on, and to their end", async () => {
    let reads = createTurnCount();
    const sockets: Socket[] = [];
    const accept = (message: unknown): void => {
      const { socket } = message as { socket: Socket };
      sockets.push(socket.on("readable", () => reads.count()));
    };
    subscribe("net.server.socket", accept);
    onTestFinished(() => void unsubscribe("net.server.socket", accept));
    await using listener = await listen(echo, options);
    using opened = new DisposableStack();
    const open = async () => opened.use(await openRawConnection(listener.port));
    const all = await Promise.all(Array.from({ length: connections }, open));
    const pieces = start.length - 1;
    for (let at = 0; at < pieces; at += 1) {
      for (const { write } of all) void write(start.subarray(at, at + 1));
      while (sockets.length < connections || sockets.some(({ bytesRead }) => bytesRead <= at))
        await nextTurn();
      if (at === 0) reads = createTurnCount();
    }
    expect(reads.total).toBeGreaterThanOrEqual((pieces - 1) * connections);
    expect(reads.mostInATurn).toBeLessThanOrEqual(33);
  });
});

describe("a ClientHello in thousands of records", () => {
  const records = 2_000;
  const reads: FirstReads = {
    connection: { joinUndecided: vi.fn(), countUndecided: vi.fn(), leave: vi.fn() },
    isProxy: false,
    timeoutMs: 60_000,
  };

  it("is looked at once, however many pieces it comes in", async () => {
    const socket = new PassThrough();
    const heads = vi.spyOn(Buffer.prototype, "readUInt16BE");
    onTestFinished(() => heads.mockRestore());
    awaitHello(socket as unknown as Socket, reads, () => undefined);
    for (let at = 0; at < records; at += 10) {
      socket.write(Buffer.alloc(10 * 6, Buffer.from([22, 3, 1, 0, 1, 255])));
      await nextTurn();
    }
    expect(socket.destroyed).toBe(false);
    expect(heads.mock.calls.length).toBe(records);
    socket.destroy();
  });

  it("is refused when one of them is empty", async () => {
    const socket = new PassThrough();
    awaitHello(socket as unknown as Socket, reads, () => undefined);
    socket.write(Buffer.from([22, 3, 1, 0, 1, 1, 22, 3, 1, 0, 0]));
    await nextTurn();
    expect(socket.destroyed).toBe(true);
  });
});
