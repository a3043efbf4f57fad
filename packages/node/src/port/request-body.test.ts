import { once } from "node:events";
import { constants } from "node:http2";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HttpHandler } from "@a2a-connect/bindings";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { json, readBytes } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import type { CallerConnection } from "./callers/callers.ts";
import { listen } from "./listen.ts";
import { RequestBody } from "./request-body.ts";

const maxBytes = 1024 * 1024;
const sixMegabytes = new Uint8Array(6 * 1024 * 1024).map((_, index) => index % 251);

/** Has room for all bodies. */
const quietConnection = {
  countPiece() {},
  turnAfterShortBody() {},
  bodies: { add() {}, remove() {}, forbidRefusal() {} },
} as unknown as CallerConnection; // what a body needs of it

/** Reads by the fast path or by iteration, and answers with the length and a check sum. */
function measuring(how: "bytes" | "iteration", limit: number): HttpHandler {
  return async (request) => {
    try {
      let [length, sum, plain] = [0, 0, true];
      const chunks = how === "bytes" ? [await readBytes(request, limit)] : request.body;
      for await (const chunk of chunks) {
        length += chunk.length;
        plain &&= !Buffer.isBuffer(chunk);
        for (const byte of chunk) sum += byte;
        if (length > limit) return json("too large", 413);
      }
      return json({ length, sum, plain });
    } catch (error) {
      return json(ConnectError.from(error).rawMessage, 413);
    }
  };
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

it("an idle connection keeps nothing of the body of its last request", async () => {
  let bytes: WeakRef<Uint8Array> | undefined;
  await using listener = await listen(async (request) => {
    bytes = new WeakRef(await readBytes(request, maxBytes));
    return json("read");
  });
  using connection = await openRawConnection(listener.port);
  const body = "x".repeat(100_000);
  await connection.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`);
  await connection.write(body);
  await connection.until("read");
  await collectGarbage();
  expect(bytes?.deref()).toBeUndefined();
  expect(connection.socket.closed).toBe(false);
});

it.each(["close", "keep-alive"])(
  "a caller that sends on after its body was refused keeps the answer, with connection: %s",
  async (kind) => {
    await using listener = await listen(measuring("bytes", 1_000));
    using connection = await openRawConnection(listener.port);
    const pieces = 64;
    const piece = "x".repeat(100_000);
    const length = pieces * piece.length;
    await connection.write(
      `POST / HTTP/1.1\r\nhost: a\r\nconnection: ${kind}\r\ncontent-length: ${length}\r\n\r\n`,
    );
    await connection.until("413");
    for (let sent = 0; sent < pieces; sent += 1) await connection.write(piece);
    if (kind === "keep-alive") {
      await connection.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
      await connection.until('"length":0');
    }
    await connection.closed();
    expect(connection.socket.errored).toBe(null);
    expect(connection.socket.bytesWritten).toBeGreaterThan(length);
  },
);

it.each([true, false])(
  "frees chunks that no other code has as soon as they are copied, or not wanted (%s)",
  async (ownsChunks) => {
    const source = new PassThrough();
    const options = { declaredLength: undefined, connection: quietConnection, cut: () => {}, ownsChunks };
    const body = new RequestBody(source, options);
    const chunks = Array.from({ length: 4 }, (_, index) => Buffer.allocUnsafeSlow(16_384).fill(index));
    for (const chunk of chunks.slice(0, 3)) {
      source.write(chunk);
      await nextTurn();
    }
    body.discard();
    source.write(chunks[3]);
    await nextTurn();
    expect(chunks.slice(1).map(({ buffer }) => buffer.detached)).toEqual(Array(3).fill(ownsChunks));
  },
);

it.each(["freeBytes", "release"] as const)(
  "after %s, only freeBytes has freed what was read",
  async (end) => {
    const source = new PassThrough();
    const body = new RequestBody(source, {
      declaredLength: 32_768,
      connection: quietConnection,
      cut: () => {},
    });
    const whole = body.bytes(maxBytes);
    for (const value of [1, 2]) {
      source.write(Buffer.alloc(16_384, value));
      await nextTurn();
    }
    source.end();
    const bytes = await whole;
    expect(bytes.subarray(16_383, 16_385)).toEqual(new Uint8Array([1, 2]));
    body[end]();
    expect(bytes.length).toBe(end === "freeBytes" ? 0 : 32_768);
  },
);

it("gives all that came between two reads in one piece", async () => {
  const source = new PassThrough();
  const options = { declaredLength: undefined, connection: quietConnection, cut: () => {} };
  const body = new RequestBody(source, options);
  const send = async (from: number, to: number): Promise<void> => {
    for (let value = from; value < to; value += 1) source.write(Buffer.of(value));
    await nextTurn();
  };
  await send(0, 100);
  const pieces: number[][] = [];
  for await (const piece of body) {
    pieces.push([...piece]);
    if (pieces.length === 1) await send(100, 200);
    else source.end();
  }
  const sent = Array.from({ length: 200 }, (_, value) => value);
  expect(pieces).toEqual([sent.slice(0, 100), sent.slice(100)]);
  expect(body.held).toBe(200);
});

it("does not free a body that came in one chunk, which other code may have", async () => {
  const source = new PassThrough();
  const body = new RequestBody(source, {
    declaredLength: 16_384,
    connection: quietConnection,
    cut: () => {},
  });
  const whole = body.bytes(maxBytes);
  source.end(Buffer.alloc(16_384, 1));
  const bytes = await whole;
  body.freeBytes();
  expect(bytes).toEqual(new Uint8Array(16_384).fill(1));
});

it("the line for the turn in which a message is made keeps no body whose caller has gone", async () => {
  const { promise: made, resolve: end } = Promise.withResolvers<void>();
  const bodies: WeakRef<object>[] = [];
  await using listener = await listen(async (request) => {
    await readBytes(request, maxBytes);
    bodies.push(new WeakRef(request.body));
    await request.body.turnBeforeMessage?.(maxBytes, request.callerNetwork);
    await made;
    return json("made");
  });
  using session = openHttp2(listener.url);
  const first = callHttp2(session, { ":method": "POST" }, new Uint8Array(10));
  await expect.poll(() => bodies.length).toBe(1);
  const streams = Array.from({ length: 20 }, () => {
    const stream = session.request({ ":method": "POST" });
    return stream.on("error", () => undefined).end("body");
  });
  await expect.poll(() => bodies.length).toBe(21);
  for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
  const countKept = async () => {
    await collectGarbage();
    return bodies.filter((body) => body.deref() !== undefined).length;
  };
  await expect.poll(countKept).toBe(1);
  end();
  expect((await first).body).toContain("made");
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // what the flag defines
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    collect();
  }
}

for (const how of ["bytes", "iteration"] as const) {
  it(`${how}: is empty for requests of one connection that wait for their turns while an empty frame ends them`, async () => {
    await using listener = await listen(measuring(how, maxBytes));
    using session = openHttp2(listener.url);
    await once(session, "remoteSettings");
    const answers = Array.from({ length: 40 }, () =>
      callHttp2(session, { ":method": "POST" }, new Uint8Array(0)),
    );
    for (const { body } of await Promise.all(answers)) expect(JSON.parse(body).length).toBe(0);
  });

  describe(`a request body read by ${how}`, () => {
    it("arrives whole, 6 MB of it, on both HTTP versions", async () => {
      await using listener = await listen(measuring(how, 16 * 1024 * 1024));
      const want = { length: sixMegabytes.length, sum: sixMegabytes.reduce((a, b) => a + b, 0), plain: true };
      expect(await (await fetch(listener.url, { method: "POST", body: sixMegabytes })).json()).toEqual(want);
      using session = openHttp2(listener.url);
      expect(JSON.parse((await callHttp2(session, { ":method": "POST" }, sixMegabytes)).body)).toEqual(want);
    });

    it("is empty for a GET", async () => {
      await using listener = await listen(measuring(how, maxBytes));
      expect(await (await fetch(listener.url)).json()).toMatchObject({ length: 0 });
      using session = openHttp2(listener.url);
      expect(JSON.parse((await callHttp2(session, {})).body)).toMatchObject({ length: 0 });
    });

    for (const [what, declared] of [
      ["declared", true],
      ["undeclared", false],
    ] as const) {
      it(`is refused over the limit (${what} length) and leaves the HTTP/1.1 connection usable`, async () => {
        await using listener = await listen(measuring(how, maxBytes));
        using connection = await openRawConnection(listener.port);
        const body = "x".repeat(maxBytes + 1);
        const framing = declared ? `content-length: ${body.length}` : "transfer-encoding: chunked";
        const framed = declared ? body : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
        await connection.write(`POST / HTTP/1.1\r\nhost: a\r\n${framing}\r\n\r\n${framed}`);
        expect(await connection.until("large")).toMatch(/^HTTP\/1\.1 413 /);
        await connection.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        expect(await connection.closed()).toContain("HTTP/1.1 200 ");
      });
    }

    it("is refused over the limit and leaves the HTTP/2 connection usable", async () => {
      await using listener = await listen(measuring(how, maxBytes));
      using session = openHttp2(listener.url);
      for (const headers of [{ "content-length": sixMegabytes.length }, {}]) {
        const answer = await callHttp2(session, { ":method": "POST", ...headers }, sixMegabytes);
        expect([answer.headers[":status"], answer.body]).toEqual([413, expect.stringContaining("large")]);
      }
      expect((await callHttp2(session, {})).headers[":status"]).toBe(200);
    });

    it("fails when the caller leaves half-way", async () => {
      const { promise: failure, resolve } = Promise.withResolvers<unknown>();
      const { promise: started, resolve: start } = Promise.withResolvers<void>();
      await using listener = await listen(async (request) => {
        start();
        const read = how === "bytes" ? readBytes(request, maxBytes) : readAll(request.body);
        await read.catch(resolve);
        return { status: 200 };
      });
      using connection = await openRawConnection(listener.port);
      await connection.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf");
      await started;
      connection.socket.destroy();
      expect(await failure).toMatchObject({ code: Code.Canceled });
      using session = openHttp2(listener.url);
      const stream = session.request({ ":method": "POST" });
      stream.on("error", () => undefined);
      stream.write("half");
      stream.close(8);
      await once(stream, "close");
    });
  });
}

it("gives up on an HTTP/2 body that takes longer than requestTimeoutMs", async () => {
  await using listener = await listen(measuring("bytes", maxBytes), { requestTimeoutMs: 30 });
  using session = openHttp2(listener.url);
  const stream = session.request({ ":method": "POST" });
  stream.write("half");
  const [headers] = await once(stream, "response");
  expect(headers[":status"]).toBe(413);
  expect((await stream.setEncoding("utf8").toArray()).join("")).toContain("longer than 30 ms");
});

it("tells a caller that waits for it to go on (100-continue)", async () => {
  await using listener = await listen(measuring("bytes", maxBytes));
  using connection = await openRawConnection(listener.port);
  await connection.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
  await connection.until("100 Continue");
  await connection.write("ok");
  expect(await connection.until('"length"')).toContain('"length":2');
  using session = openHttp2(listener.url);
  const stream = session.request({ ":method": "POST", expect: "100-continue" });
  await once(stream, "continue");
  stream.end("ok");
  expect((await stream.setEncoding("utf8").toArray()).join("")).toContain('"length":2');
});
