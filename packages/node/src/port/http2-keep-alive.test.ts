import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpHandler } from "@a2a-connect/bindings";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { aborted, createGate, echo } from "../../test-support/handlers.ts";
import { openHttp2 } from "../../test-support/http2-call.ts";
import {
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
import { listen } from "./listen.ts";

const pings = { pingIntervalMs: 40, pingTimeoutMs: 40 };

/** How its connection is read. */
const readings = [
  ["which Node's parser reads itself", async (): Promise<Disposable> => new DisposableStack()],
  ["whose bytes the parser gets in pieces", openReadByParser],
] as const;

describe.each(readings)("an HTTP/2 peer with an open stream, %s", (_, openOthers) => {
  it("is cut off when it answers no ping", async () => {
    const { handler, gone } = createSubscription();
    await using listener = await listen(handler, pings);
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    await connection.write(requestFrame(1));
    expect(await gone).toMatchObject({ rawMessage: "the caller went away" });
    expect(pingsIn(await connection.closed())).toHaveLength(1);
  });

  it("stays while it may be reading what was written before the ping", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { handler, started, gone } = createSubscription();
    const written = createGate();
    const finish = createGate();
    async function* large(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(128 * 1024);
      written.open(); // the first chunk, but for what a stream holds back
      yield new Uint8Array(2 * 2 ** 20);
      await finish.opened;
      yield Buffer.from("end of the answer");
    }
    await using listener = await listen(
      async (request) => (request.header.has("small") ? handler(request) : { status: 200, body: large() }),
      pings,
    );
    using _others = await openOthers(listener.port);
    using slow = await openRawConnection(listener.port);
    await openSlowReader(slow);
    using other = await openRawConnection(listener.port);
    await openSilentHttp2(other);
    await other.write(requestFrame(1, { small: "yes" }));
    await Promise.all([written.opened, started]);
    vi.advanceTimersByTime(pings.pingIntervalMs);
    vi.advanceTimersByTime(pings.pingTimeoutMs + 1_000); // and some more for the first bytes of a connection
    await gone;
    finish.open();
    slow.socket.resume();
    expect(await Promise.race([slow.until("end of the answer"), slow.closed()])).toContain("end of the");
  });

  it("is cut off when it has stopped reading altogether", async () => {
    const { handler, gone } = createSubscription(new Uint8Array(64 * 1024));
    await using listener = await listen(handler, pings);
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port);
    connection.socket.pause();
    await openSilentHttp2(connection);
    await connection.write(windowUpdate(2 ** 30)); // so that the system's buffers fill
    await connection.write(requestFrame(1));
    expect(await gone).toMatchObject({ rawMessage: "the caller went away" });
  });

  it("stays as long as it answers", async () => {
    const { handler, release } = createSubscription();
    await using listener = await listen(handler, { pingIntervalMs: 20, pingTimeoutMs: 300 });
    using _others = await openOthers(listener.port);
    using session = openHttp2(listener.url);
    const stream = session.request({});
    const response = once(stream, "response");
    for (let count = 0; count < 4; count += 1) await once(session, "ping");
    release();
    expect((await response)[0]).toMatchObject({ ":status": 200 });
    stream.resume();
    await once(stream, "end");
  });

  it.each(["the peer", "the server"])("stays as long as it answers after a GOAWAY of %s", async (who) => {
    const { handler, started, release } = createSubscription();
    await using listener = await listen(handler, { pingIntervalMs: 20, pingTimeoutMs: 300 });
    using _others = await openOthers(listener.port);
    using session = openHttp2(listener.url);
    const closed = once(session, "close").then(() => "closed");
    const response = once(session.request({}).resume(), "response");
    await once(session, "remoteSettings"); // with which every session begins
    await started;
    if (who === "the peer") session.close();
    else void listener.close({ graceMs: 60_000, timeoutMs: 60_000 });
    for (let count = 0; count < 3; count += 1) {
      const asked = once(session, "remoteSettings").then(() => "asked");
      expect(await Promise.race([asked, closed])).toBe("asked");
    }
    release();
    expect((await response)[0]).toMatchObject({ ":status": 200 });
    await closed; // with its last stream
  });

  it("is cut off when it answers nothing after its GOAWAY", async () => {
    const { handler, gone } = createSubscription();
    await using listener = await listen(handler, pings);
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    await connection.write(requestFrame(1));
    await connection.write(goAway);
    expect(await gone).toMatchObject({ rawMessage: "the caller went away" });
  });

  it("stays as long as it sends anything", async () => {
    const { handler } = createSubscription();
    await using listener = await listen(handler, { pingIntervalMs: 20, pingTimeoutMs: 300 });
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    await connection.write(requestFrame(1));
    for (let count = 1; count <= 3; count += 1) {
      while (pingsIn(await connection.until("")).length < count) await once(connection.socket, "data");
      await connection.write(windowUpdate(1)); // not what a ping asks for
    }
    // Then it falls silent.
    expect(pingsIn(await connection.closed()).length).toBeGreaterThan(3);
  });

  it("is never asked when the interval is 0", async () => {
    const { handler, started } = createSubscription();
    await using listener = await listen(handler, { pingIntervalMs: 0, pingTimeoutMs: 1 });
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    await connection.write(requestFrame(1));
    await started;
    const other = openHttp2(listener.url);
    await once(other, "connect");
    await pingOften(other, 100); // time enough for a timer of 0
    other.close();
    await listener.close({ graceMs: 0, timeoutMs: 0 });
    expect(pingsIn(await connection.closed())).toEqual([]);
  });
});

describe.each(readings)("an HTTP/2 peer without streams, %s", (_, openOthers) => {
  it("is not asked, and goes when it has been idle", async () => {
    await using listener = await listen(echo, { ...pings, pingIntervalMs: 20, idleSessionTimeoutMs: 250 });
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    const frames = parseFrames(await connection.closed());
    expect(frames.map(({ type }) => type)).toContain(frameTypes.goAway);
    expect(frames.map(({ type }) => type)).not.toContain(frameTypes.ping);
  });

  it("is cut off when it leaves the connection open after the end of the session", async () => {
    await using listener = await listen(echo, { idleSessionTimeoutMs: 50 });
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port, { allowHalfOpen: true });
    await openSilentHttp2(connection);
    const ended = once(connection.socket, "end");
    await connection.write(goAway);
    await ended;
    await listener.close({ graceMs: 0, timeoutMs: 3_600_000 }); // it waits for all connections
  });

  it("is cut off when it reads nothing after its stream was cut", async () => {
    const { handler } = createSubscription(new Uint8Array(64 * 1024));
    const limits = { stalledReaderTimeoutMs: 100, idleSessionTimeoutMs: 100 };
    await using listener = await listen(handler, { pingIntervalMs: 0, ...limits });
    using _others = await openOthers(listener.port);
    using connection = await openRawConnection(listener.port);
    await openSlowReader(connection); // what is sent to it fills the buffers of the system
    while (!connection.socket.destroyed) {
      await connection.write(windowUpdate(1)); // fails when the server has cut the connection
      await nextTurn();
    }
  });

  it("may ping as often as it likes", async () => {
    await using listener = await listen(echo);
    using _others = await openOthers(listener.port);
    using session = openHttp2(listener.url);
    await once(session, "connect");
    let goAway: unknown;
    session.on("goaway", (code) => {
      goAway = code;
    });
    await pingOften(session, 500);
    expect([session.destroyed, goAway]).toEqual([false, undefined]);
  });
});

/** A stream that says nothing after `first`, until it is released or its caller has gone. */
function createSubscription(chunk?: Uint8Array): {
  readonly handler: HttpHandler;
  readonly started: Promise<void>;
  readonly gone: Promise<unknown>;
  release(): void;
} {
  const { promise: gone, resolve } = Promise.withResolvers<unknown>();
  const started = createGate();
  const released = createGate();
  async function* body(): AsyncGenerator<Uint8Array> {
    while (chunk !== undefined) yield chunk;
    await Promise.race([released.opened, gone]);
  }
  return {
    handler: async ({ signal }) => {
      started.open();
      void aborted(signal).then(resolve);
      return { status: 200, body: body() };
    },
    started: started.opened,
    gone,
    release: () => released.open(),
  };
}

async function pingOften(session: ClientHttp2Session, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await new Promise<void>((resolve, reject) =>
      session.ping((error) => (error === null ? resolve() : reject(error))),
    );
  }
}

function pingsIn(received: string): unknown[] {
  return parseFrames(received).filter(({ type }) => type === frameTypes.ping);
}
