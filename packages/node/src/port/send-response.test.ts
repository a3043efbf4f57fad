import { once } from "node:events";
import { type ClientHttp2Stream, constants } from "node:http2";
import { Writable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HttpHandler } from "@a2a-connect/bindings";
import { describe, expect, it } from "vitest";
import { aborted, createGate, json } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import { fakeIntervals } from "../../test-support/intervals.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";
import { type ResponseSink, type SharedLine, sendResponse } from "./send-response.ts";

const request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/** A stream that never ends by itself, and what became of it. */
function createEndless(chunk: Uint8Array) {
  const left = createGate();
  const state = { produced: 0, left: left.opened };
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        state.produced += 1;
        yield chunk;
      }
    } finally {
      left.open();
    }
  }
  const handler: HttpHandler = async () => ({ status: 200, body: body() });
  return { state, handler };
}

/** Resolves when the producer has not moved during a whole turn of the event loop, many times in a row. */
async function untilPaused(state: { readonly produced: number }): Promise<void> {
  for (let [still, last] = [0, -1]; still < 200; ) {
    await new Promise(setImmediate);
    still = state.produced === last ? still + 1 : 0;
    last = state.produced;
  }
}

/** How many of them are still in memory after garbage collections. */
async function countKept(chunks: readonly WeakRef<Uint8Array>[]): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise(setImmediate); // until then what a WeakRef was made of stays
    collectGarbage();
  }
  return chunks.filter((chunk) => chunk.deref() !== undefined).length;
}

/** Sends a piece that waits for its reader, for 80 ms at most. */
function sendWaiting(line: SharedLine | undefined) {
  const taken: (() => void)[] = [];
  const writable = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => taken.push(done) });
  const resets: string[] = [];
  const sink: ResponseSink = {
    writable,
    get gone() {
      return resets.length > 0;
    },
    headSent: false,
    isQueued: false,
    line,
    complete: false,
    get taken() {
      return writable.writableFinished;
    },
    sendHead() {},
    end: () => writable.end(),
    reset: () => resets.push("reset"),
  };
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("one");
  }
  const connection = {
    caller: {},
    countWaiting: () => () => {},
    turnBeforePiece: () => undefined,
    turnBeforeEnd: () => undefined,
  };
  const patience = { stalledTimeoutMs: 80, connection };
  return { sent: sendResponse({ status: 200, body: body() }, "GET", sink, patience), taken, resets };
}

/** Resolves with the error code that ended the stream. */
function resetCode(stream: ClientHttp2Stream): Promise<number | undefined> {
  stream.on("error", () => undefined);
  return new Promise((resolve) => stream.once("close", () => resolve(stream.rstCode)));
}

describe("a streamed response", () => {
  it("has no chunk in memory that its reader has taken", async () => {
    const chunks: WeakRef<Uint8Array>[] = [];
    const next = createGate();
    const waits = createGate();
    const body = {
      [Symbol.asyncIterator]: () => body,
      async next() {
        if (chunks.length > 0) {
          waits.open();
          await next.opened;
          return { done: true, value: undefined } as const;
        }
        const value = new Uint8Array(300_000);
        chunks.push(new WeakRef(value));
        return { done: false, value };
      },
    };
    await using listener = await listen(async () => ({ status: 200, body }));
    using connection = await openRawConnection(listener.port);
    await connection.write(request);
    await waits.opened;
    expect(await countKept(chunks)).toBe(0);
    next.open();
  });

  it("is let go in turns where the connection of hundreds is lost", async () => {
    const streams = 400;
    const ends = { all: 0, inTurn: 0, most: 0 };
    let begun = 0;
    const body = {
      [Symbol.asyncIterator]: () => body,
      next: () => new Promise<never>(() => {}),
      async return() {
        if (ends.inTurn === 0) setImmediate(() => (ends.inTurn = 0));
        ends.all += 1;
        ends.inTurn += 1;
        ends.most = Math.max(ends.most, ends.inTurn);
        return { done: true, value: undefined } as const;
      },
    };
    const handler: HttpHandler = async () => {
      begun += 1;
      return { status: 200, body };
    };
    await using listener = await listen(handler, { maxStreams: 10_000 });
    const session = openHttp2(`http://127.0.0.1:${listener.port}`);
    for (let stream = 0; stream < streams; stream += 1)
      session.request({ ":path": "/" }).on("error", () => {});
    await expect.poll(() => begun).toBe(streams);
    session.destroy();
    await expect.poll(() => ends.all).toBe(streams);
    expect(ends.most).toBeLessThanOrEqual(64);
  });

  it("gives everybody a turn between large chunks, however fast its reader is", async () => {
    const chunks = 40;
    const turns = { taken: 0, running: true };
    const count = (): void => {
      turns.taken += 1;
      if (turns.running) setImmediate(count);
    };
    const takenAt: number[] = [];
    async function* body(): AsyncGenerator<Uint8Array> {
      count();
      for (let at = 0; at < chunks; at += 1) {
        takenAt.push(turns.taken);
        yield new Uint8Array(16 * 1024);
      }
      turns.running = false;
    }
    await using listener = await listen(async () => ({ status: 200, body: body() }));
    expect((await (await fetch(listener.url)).arrayBuffer()).byteLength).toBe(chunks * 16 * 1024);
    // 64 KiB are four chunks: in no longer run of them is the event loop kept.
    const longest = Math.max(...takenAt.map((taken) => takenAt.filter((other) => other === taken).length));
    expect(longest).toBeLessThanOrEqual(4);
  });

  it("makes few chunks in a turn of the event loop, of all streams together, however small they are", async () => {
    const [streams, chunks] = [100, 100];
    const begin = Promise.withResolvers<void>();
    const perTurn = [0];
    let begun = 0;
    async function* body(): AsyncGenerator<Uint8Array> {
      begun += 1;
      if (begun === streams) begin.resolve();
      await begin.promise;
      for (let at = 0; at < chunks; at += 1) {
        if (perTurn.at(-1) === 0) setImmediate(() => perTurn.push(0));
        perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1;
        yield new Uint8Array(1);
      }
    }
    await using listener = await listen(async () => ({ status: 200, body: body() }));
    using session = openHttp2(listener.url);
    const bodies = await Promise.all(
      Array.from({ length: streams }, async () => (await callHttp2(session, {})).body.length),
    );
    expect(new Set(bodies)).toEqual(new Set([chunks]));
    // The first chunk of each, and 256; two of the server's turns may fall into one of ours.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(streams + 2 * 256);
  });

  it("delivers every chunk by itself, before the next is made", async () => {
    const next = createGate();
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("one");
      await next.opened;
      yield Buffer.from("two");
    }
    await using listener = await listen(async () => ({ status: 200, body: body() }));
    const reader = (await fetch(listener.url)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("one");
    next.open();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("two");
    expect((await reader?.read())?.done).toBe(true);
  });

  it("takes header fields that the handler sets before its first chunk, and trailers until its end", async () => {
    const handler: HttpHandler = async () => {
      const [header, trailer] = [new Headers(), new Headers()];
      async function* body(): AsyncGenerator<Uint8Array> {
        header.set("x-late", "1");
        yield Buffer.from("body");
        trailer.set("x-after", "2");
      }
      return { status: 200, header, body: body(), trailer };
    };
    await using listener = await listen(handler);
    const session = openHttp2(listener.url);
    const answer = await callHttp2(session, {});
    expect(answer).toMatchObject({ headers: { "x-late": "1" }, body: "body", trailers: { "x-after": "2" } });
    session.close();
    using connection = await openRawConnection(listener.port);
    await connection.write(request);
    expect(await connection.until("x-after")).toMatch(/x-late: 1\r\n[\s\S]*body\r\n0\r\nx-after: 2\r\n/);
  });

  it("sends trailers after a body of bytes and after none", async () => {
    const bodies = [Buffer.from("body"), undefined];
    await using listener = await listen(async () => {
      const body = bodies.shift();
      return { status: 200, trailer: new Headers({ "x-after": "2" }), ...(body && { body }) };
    });
    using session = openHttp2(listener.url);
    expect(await callHttp2(session, {})).toMatchObject({ body: "body", trailers: { "x-after": "2" } });
    expect(await callHttp2(session, {})).toMatchObject({ body: "", trailers: { "x-after": "2" } });
  });

  it("leaves out trailers that HTTP/2 forbids", async () => {
    const trailer = new Headers({ te: "gzip", "http2-settings": "AAMAAABk", "x-after": "2" });
    await using listener = await listen(async () => ({ status: 200, body: "body", trailer }));
    using session = openHttp2(listener.url);
    const { body, trailers } = await callHttp2(session, {});
    expect([body, Object.keys(trailers ?? {})]).toEqual(["body", ["x-after"]]);
  });

  it("pauses its producer while an HTTP/1.1 reader takes nothing, and ends it when the reader leaves", async () => {
    const { state, handler } = createEndless(new Uint8Array(64 * 1024));
    await using listener = await listen(handler);
    using connection = await openRawConnection(listener.port);
    connection.socket.pause();
    await connection.write(request);
    await untilPaused(state);
    expect(state.produced).toBeGreaterThan(0);
    expect(state.produced).toBeLessThan(400); // 25 MiB: far above what two kernel buffers hold, far below endless
    const before = state.produced;
    connection.socket.resume();
    while (state.produced === before) await new Promise(setImmediate);
    connection.socket.destroy();
    await state.left;
  });

  it("pauses its producer while an HTTP/2 reader takes nothing, and ends it when the reader resets", async () => {
    const { state, handler } = createEndless(new Uint8Array(64 * 1024));
    await using listener = await listen(handler);
    using session = openHttp2(listener.url);
    const stream = session.request({});
    await once(stream, "response");
    await untilPaused(state);
    expect(state.produced).toBeLessThan(20); // one flow-control window and one buffered write
    const before = state.produced;
    stream.resume();
    while (state.produced === before) await new Promise(setImmediate);
    stream.close(constants.NGHTTP2_CANCEL);
    await state.left;
  });

  it("is cut off when its reader stalls longer than stalledReaderTimeoutMs", async () => {
    const { state, handler } = createEndless(new Uint8Array(64 * 1024));
    await using listener = await listen(handler, { stalledReaderTimeoutMs: 30 });
    using session = openHttp2(listener.url);
    session.request({}).on("error", () => undefined);
    using connection = await openRawConnection(listener.port);
    connection.socket.pause();
    await connection.write(request);
    await state.left;
  });

  it("cuts a body of bytes off, too, when its reader stalls", async () => {
    const body = new Uint8Array(64 * 1024 * 1024);
    await using listener = await listen(async () => ({ status: 200, body }), { stalledReaderTimeoutMs: 30 });
    using connection = await openRawConnection(listener.port);
    await connection.write(request);
    connection.socket.pause();
    using session = openHttp2(listener.url);
    const stream = session.request({});
    expect(await resetCode(stream)).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  it("is not cut off for a pause of the process, after which its reader goes on", async () => {
    const { sent, taken, resets } = sendWaiting(undefined);
    await new Promise(setImmediate);
    expect(taken).toHaveLength(1);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120); // the process does nothing at all
    await new Promise(setImmediate);
    taken[0]?.();
    await sent;
    expect(resets).toEqual([]);
  });

  it("is not cut off while it has its turn after other answers of its connection, and no longer", async () => {
    using clock = fakeIntervals();
    const line = { sentBytes: 1_000, answers: 4 };
    const { sent, resets } = sendWaiting(line);
    await new Promise(setImmediate);
    for (let turn = 0; turn < 7; turn += 1) {
      line.sentBytes += 64 * 1024; // of the others
      clock.pass(80);
      expect(resets).toEqual([]);
    }
    line.sentBytes += 64 * 1024; // each could have had two
    clock.pass(80);
    await sent;
    expect(resets).toEqual(["reset"]);
  });

  it("is cut off when its connection takes hardly anything, for any of its answers", async () => {
    using clock = fakeIntervals();
    const line = { sentBytes: 0, answers: 1_000 };
    const { sent, resets } = sendWaiting(line);
    await new Promise(setImmediate);
    line.sentBytes += 60_000;
    clock.pass(80);
    await sent;
    expect(resets).toEqual(["reset"]);
  });

  it("sends a large body of bytes whole", async () => {
    const body = new Uint8Array(6_000_001).map((_, index) => index % 251);
    await using listener = await listen(async () => ({ status: 200, body }));
    const response = await fetch(listener.url);
    expect(response.headers.get("content-length")).toBe("6000001");
    expect(Buffer.compare(await response.bytes(), body)).toBe(0);
    using session = openHttp2(listener.url);
    expect((await callHttp2(session, {})).body.length).toBeGreaterThan(3_000_000);
  });

  it("becomes a JSON 500 when it fails before its first chunk, and a visible break after it", async () => {
    const failures: unknown[] = [];
    const onError = (error: unknown): void => void failures.push(error);
    async function* body(chunks: number): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < chunks; i += 1) yield Buffer.from("chunk");
      throw new Error("xyzzy");
    }
    const handler: HttpHandler = async ({ url }) => ({ status: 200, body: body(url.endsWith("/1") ? 1 : 0) });
    await using listener = await listen(handler, { onError });
    using session = openHttp2(listener.url);
    const response = await fetch(listener.url);
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringMatching(/INTERNAL(?!.*xyzzy)/),
    ]);
    await expect(fetch(`${listener.url}/1`).then((broken) => broken.text())).rejects.toThrow();
    expect((await callHttp2(session, {})).headers[":status"]).toBe(500);
    const stream = session.request({ ":path": "/1" });
    stream.resume();
    expect(await resetCode(stream)).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect(failures).toHaveLength(4);
  });
});

it("answers 500 to a status that HTTP does not have, and lets go of the body", async () => {
  const { state, handler } = createEndless(Buffer.from("x"));
  await using listener = await listen(async (request) => ({ ...(await handler(request)), status: 99 }));
  expect((await fetch(listener.url)).status).toBe(500);
  await state.left;
});

describe("a request's signal", () => {
  for (const version of ["HTTP/1.1", "HTTP/2"] as const) {
    it(`aborts when the caller leaves a pending call (${version})`, async () => {
      const { promise: reason, resolve } = Promise.withResolvers<unknown>();
      const started = createGate();
      await using listener = await listen(async ({ signal }) => {
        started.open();
        resolve(await aborted(signal));
        return { status: 200 };
      });
      const leave = new AbortController();
      if (version === "HTTP/1.1") {
        fetch(listener.url, { signal: leave.signal }).catch(() => undefined);
        await started.opened;
        leave.abort();
        expect(await reason).toMatchObject({ rawMessage: "the caller went away" });
      } else {
        using session = openHttp2(listener.url);
        const stream = session.request({});
        stream.on("error", () => undefined);
        await started.opened;
        stream.close(constants.NGHTTP2_CANCEL);
        expect(await reason).toMatchObject({ rawMessage: "the caller went away" });
      }
    });
  }

  it("does not abort because a response has ended well", async () => {
    const signals: AbortSignal[] = [];
    {
      await using listener = await listen(async ({ signal }) => {
        signals.push(signal);
        return json("done");
      });
      using session = openHttp2(listener.url);
      await (await fetch(listener.url)).text();
      await callHttp2(session, {});
    }
    expect(signals.map(({ aborted: isAborted }) => isAborted)).toEqual([false, false]);
  });
});
