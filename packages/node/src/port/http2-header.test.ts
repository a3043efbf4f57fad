import { once } from "node:events";
import { constants, type ServerHttp2Session } from "node:http2";
import type { HttpHandler } from "@a2a-connect/bindings";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import {
  formatFrame,
  frameTypes,
  goAway,
  openSilentHttp2,
  openSlowReader,
  parseFrames,
  requestFrame,
  windowUpdate,
} from "../../test-support/http2-frames.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { Places } from "./callers/places.ts";
import { PeerQuestions } from "./http2-ask.ts";
import { watchHeader } from "./http2-header.ts";
import { listen } from "./listen.ts";
import { defaultLimits } from "./listen-options.ts";

const endsHeader = 0x4;
const frame = (type: number, flags: number, payload: Buffer): Buffer =>
  formatFrame({ type, flags, streamId: 1, payload });

const request = requestFrame(1).subarray(9);

/** Most of a field whose value has 28,000 bytes: six places before it is whole, and seven then. */
const start = Buffer.concat([
  Buffer.from([0, 1, 0x61, 0x7f, 0xe1, 0xd9, 0x01]), // its name has one byte, its value 127 + 0x61 + (0x59 << 7) + (1 << 14)
  Buffer.alloc(15_000, "x"),
]);
const unfinished = Buffer.concat([
  frame(1, 0x1, Buffer.concat([request, start])),
  frame(9, 0, Buffer.alloc(12_999, "x")),
]);
const rest = frame(9, endsHeader, Buffer.from("x"));

const answer: HttpHandler = async () => ({ status: 200, body: "answer" });

async function openUnfinished(port: number) {
  const connection = await openRawConnection(port);
  await openSilentHttp2(connection);
  await connection.write(unfinished);
  return connection;
}

// What a server has of a header is looked at once a second: they wait for that together.
describe.concurrent("over a socket", () => {
  it("a header of HTTP/2 takes places before it is complete, and its connection is closed when there are none", async () => {
    await using listener = await listen(answer, { maxStreams: 80 });
    using opened = new DisposableStack();
    let closed = 0;
    const connections = await Promise.all(
      Array.from({ length: 15 }, async () => {
        const connection = opened.use(await openUnfinished(listener.port));
        connection.socket.once("close", () => (closed += 1));
        return connection;
      }),
    );
    await expect.poll(() => closed).toBe(4); // 70 places are 7/8 of 80, and 66 are eleven times six
    const other = openHttp2(listener.url);
    expect((await callHttp2(other, {})).body).toBe("answer");
    other.close();
    for (const connection of connections.filter(({ socket }) => !socket.destroyed)) {
      await connection.write(rest);
      await connection.until("answer");
      connection.socket.destroy();
      await once(connection.socket, "close");
    }
    expect(closed).toBe(15);
  });

  it("a connection of HTTP/2 is closed when its header is not complete in time, and none that brings other frames", async () => {
    const gate = createGate();
    const handler: HttpHandler = async ({ body }) => {
      for await (const _ of body);
      await gate.opened;
      return { status: 200, body: "answer" };
    };
    await using listener = await listen(handler, { headersTimeoutMs: 10 });
    // It answers PINGs, and has sent many bytes at once, of which Node tells nothing but that they were requests.
    using polite = openHttp2(listener.url);
    const fields = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`a${at}`, "x".repeat(500)]));
    const calls = Array.from({ length: 8 }, (_, at) => callHttp2(polite, { "x-at": `${at}`, ...fields }));
    // It answers none, and sends a body.
    using silent = await openRawConnection(listener.port);
    await openSilentHttp2(silent);
    await silent.write(frame(1, endsHeader, request));
    using late = await openUnfinished(listener.port);
    const other = openHttp2(listener.url);
    while (!late.socket.destroyed) {
      await silent.write(frame(0, 0, Buffer.alloc(8_000)));
      await new Promise((resolve) => other.ping(resolve));
    }
    other.close();
    expect(parseFrames(await late.closed()).map(({ type }) => type)).not.toContain(1);
    await silent.write(frame(0, 0x1, Buffer.alloc(1)));
    gate.open();
    await silent.until("answer");
    expect((await Promise.all(calls)).map(({ body }) => body)).toEqual(Array(8).fill("answer"));
  });

  it("a connection of HTTP/2 that has said GOAWAY is closed for a header that is not complete in time, and for no other", async () => {
    const [began, gate] = [createGate(), createGate()];
    const handler: HttpHandler = async () => {
      began.open();
      await gate.opened;
      return { status: 200, body: "answer" };
    };
    await using listener = await listen(handler, { headersTimeoutMs: 10 });
    using polite = openHttp2(listener.url);
    const call = callHttp2(polite, { a: "x".repeat(5_000) });
    await began.opened;
    polite.close();
    using late = await openRawConnection(listener.port);
    await openSilentHttp2(late);
    await late.write(Buffer.concat([frame(1, endsHeader, request), goAway]));
    await late.write(frame(1, 0x1, start)); // trailers that do not end
    const codes = parseFrames(await late.closed())
      .filter(({ type }) => type === frameTypes.goAway)
      .map(({ payload }) => payload.readUInt32BE(4));
    expect(codes).toContain(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    gate.open();
    expect((await call).body).toBe("answer");
  });

  describe("a connection of HTTP/2 that has an open answer, and answers no PING", () => {
    /** What came with a request tells nothing, and these are more than 4 KiB. */
    const updates = Buffer.concat(Array.from({ length: 400 }, () => windowUpdate(1)));

    async function open(bytes: number) {
      const gate = createGate();
      const handler: HttpHandler = async () => ({
        status: 200,
        body: (async function* () {
          yield Buffer.alloc(bytes, "x");
          yield Buffer.from("begin");
          await gate.opened;
          yield Buffer.from("end of the answer");
        })(),
      });
      return { gate, listener: await listen(handler, { headersTimeoutMs: 10 }) };
    }

    it("is not closed for what may be a header while it may be reading", async () => {
      const { gate, listener } = await open(2 * 2 ** 20);
      await using _ = listener;
      using slow = await openRawConnection(listener.port);
      await openSlowReader(slow);
      await slow.write(updates);
      for (let count = 0; count < 2; count += 1) {
        using late = await openUnfinished(listener.port);
        await late.closed();
      }
      gate.open();
      slow.socket.resume();
      expect(await Promise.race([slow.until("end of the answer"), slow.closed()])).toContain("end of the");
    });

    it("is closed for a header that is not complete in time when it has nothing to read", async () => {
      const { listener } = await open(1);
      await using _ = listener;
      using late = await openRawConnection(listener.port);
      await openSilentHttp2(late);
      await late.write(requestFrame(1));
      await late.until("begin");
      const payload = Buffer.concat([request, start]);
      await late.write(formatFrame({ type: frameTypes.headers, flags: 0x1, streamId: 3, payload }));
      await late.closed();
    });
  });
});

it("a session without places for what may be a header is not waited for as long as its line may need", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = { bytesRead: 20_000, bytesWritten: 16 * 60_000 }; // it may need a minute to read that
  const destroy = vi.fn();
  const session = { destroyed: false, once: () => {}, ping: () => true, goaway: () => {}, destroy };
  const open = (maxStreams: number): void => {
    const questions = new PeerQuestions(session as unknown as ServerHttp2Session, socket);
    const places = new Places({ ...defaultLimits, maxStreams });
    places.takeRequest("", 1); // what a caller has first gets room in any case
    const header = places.openHeader("");
    watchHeader(session as unknown as ServerHttp2Session, socket, header, 40_000, questions);
  };
  const isDestroyedAfter = async (ms: number): Promise<boolean> => {
    vi.advanceTimersByTime(ms);
    await new Promise(setImmediate);
    return destroy.mock.calls.length > 0;
  };
  open(2);
  expect([await isDestroyedAfter(23_000), await isDestroyedAfter(1_000)]).toEqual([false, true]);
  destroy.mockClear();
  vi.clearAllTimers();
  open(80);
  expect([await isDestroyedAfter(100_000), await isDestroyedAfter(1_000)]).toEqual([false, true]);
});
