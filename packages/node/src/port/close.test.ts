import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HttpHandler } from "@a2a-connect/bindings";
import { longestTimerMs } from "@a2a-connect/core/internal";
import { describe, expect, it, onTestFinished } from "vitest";
import { aborted, createGate, json } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

const request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/** Yields "first", waits for the gate (or the end of the signal), yields "last", and ends when the system has taken that. */
function createTwoPart() {
  const finish = createGate();
  const reasons: unknown[] = [];
  const handler: HttpHandler = async ({ signal }) => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("first");
      await Promise.race([finish.opened, aborted(signal).then((reason) => reasons.push(reason))]);
      yield Buffer.from("last");
      await nextTurn();
    }
    return { status: 200, body: body() };
  };
  return { handler, finish, reasons };
}

describe("Listener.close", () => {
  it("lets streams in flight finish on both HTTP versions, sends GOAWAY and accepts nothing new", async () => {
    const { handler, finish, reasons } = createTwoPart();
    const listener = await listen(handler);
    const session = openHttp2(listener.url);
    const stream = session.request({});
    stream.setEncoding("utf8");
    const wentAway = once(session, "goaway");
    using connection = await openRawConnection(listener.port);
    await connection.write(request);
    await Promise.all([once(stream, "readable"), connection.until("first")]);
    const closing = listener.close({ graceMs: longestTimerMs, timeoutMs: longestTimerMs }); // nothing is cut
    await wentAway;
    await expect(openRawConnection(listener.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    finish.open();
    expect((await stream.toArray()).join("")).toBe("firstlast");
    expect(await connection.closed()).toContain("last");
    await closing;
    expect(reasons).toEqual([]);
  });

  it("closes idle, silent and undecided connections at once", async () => {
    const listener = await listen(async () => json("ok"));
    using silent = await openRawConnection(listener.port);
    using undecided = await openRawConnection(listener.port);
    await undecided.write("PRI");
    using idle = await openRawConnection(listener.port);
    await idle.write(request);
    await idle.until('"ok"');
    const session = openHttp2(listener.url);
    await callHttp2(session, {});
    await listener.close();
    await Promise.all([silent.closed(), undecided.closed(), idle.closed()]);
  });

  it("says connection: close on a response that starts while draining", async () => {
    const [arrived, answer] = [createGate(), createGate()];
    const listener = await listen(async () => {
      arrived.open();
      await answer.opened;
      return json("ok");
    });
    using connection = await openRawConnection(listener.port);
    await connection.write(request);
    await arrived.opened;
    const closing = listener.close();
    answer.open();
    expect(await connection.closed()).toMatch(/connection: close\r\n[\s\S]*"ok"/i);
    await closing;
  });

  it("aborts the signals of calls in flight after graceMs", async () => {
    const { handler, reasons } = createTwoPart();
    const listener = await listen(handler);
    const session = openHttp2(listener.url);
    const stream = session.request({});
    stream.setEncoding("utf8");
    await once(stream, "readable");
    const received = stream.toArray();
    await listener.close({ graceMs: 10 });
    expect((await received).join("")).toBe("firstlast");
    expect(reasons).toMatchObject([{ rawMessage: "the server is shutting down" }]);
  });

  it("cuts what is left after timeoutMs, and only once", async () => {
    const listener = await listen(() => new Promise(() => undefined));
    using connection = await openRawConnection(listener.port);
    await connection.write(request);
    const session = openHttp2(listener.url);
    const stream = session.request({});
    stream.on("error", () => undefined);
    await once(session, "remoteSettings");
    const closing = listener.close({ timeoutMs: 20 });
    expect(listener.close()).toBe(closing);
    await closing;
    expect(await connection.closed()).toBe("");
  });

  it("notices an HTTP/2 peer that leaves without a word", async () => {
    const left = createGate();
    await using listener = await listen(async ({ signal }) => {
      await aborted(signal);
      left.open();
      return json("nobody hears");
    });
    const session = openHttp2(listener.url);
    session.request({}).on("error", () => undefined);
    await once(session, "remoteSettings");
    session.destroy();
    await left.opened;
  });
});

it("keeps nothing of HTTP/2 connections that have closed", async () => {
  const sessions: WeakRef<object>[] = [];
  const note = (message: unknown): void => {
    const { stream } = message as { readonly stream: ServerHttp2Stream }; // as Node documents it
    if (stream.session !== undefined) sessions.push(new WeakRef(stream.session));
  };
  subscribe("http2.server.stream.created", note);
  onTestFinished(() => void unsubscribe("http2.server.stream.created", note));
  await using listener = await listen(async () => json("here"));
  for (let at = 0; at < 20; at += 1) {
    const session = openHttp2(listener.url);
    await callHttp2(session, {});
    session.destroy();
  }
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
  await expect
    .poll(async () => {
      await nextTurn(); // until then what a WeakRef was made of stays
      collectGarbage();
      return sessions.filter((session) => session.deref() !== undefined).length;
    })
    .toBeLessThan(3);
  expect(sessions).toHaveLength(20);
});

it("closes an HTTP/2 connection that is idle for idleSessionTimeoutMs, but not while a stream is open", async () => {
  const { handler, finish } = createTwoPart();
  // Longer than the first packets of a busy machine are apart: the stream has to open within it.
  await using listener = await listen(handler, { idleSessionTimeoutMs: 250 });
  const [idle, busy] = [openHttp2(listener.url), openHttp2(listener.url)];
  const stream = busy.request({}).setEncoding("utf8");
  await Promise.all([once(stream, "readable"), once(idle, "close")]);
  expect([idle.closed, busy.closed]).toEqual([true, false]);
  finish.open();
  expect((await stream.toArray()).join("")).toBe("firstlast");
  await once(busy, "close");
});
