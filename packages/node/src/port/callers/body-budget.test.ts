import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { HttpHandler, HttpRequest } from "@a2a-connect/bindings";
import { createJsonRpcHandler } from "@a2a-connect/bindings/server";
import { A2AService } from "@a2a-connect/proto";
import { ConnectError, createServiceImplSpec } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createGate, json, readBytes } from "../../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../../test-support/http2-call.ts";
import { listen } from "../listen.ts";

const mebibyte = 1024 * 1024;

/** Answers with the length of the body, or with 429 and why there is none. */
const measure: HttpHandler = async (request) => {
  try {
    return json((await readBytes(request, 16 * mebibyte)).length);
  } catch (error) {
    return json(ConnectError.from(error).rawMessage, 429);
  }
};

/** Resolves when the server has seen all that was sent on the connection. */
async function seen(session: ClientHttp2Session): Promise<void> {
  await new Promise<void>((resolve) => session.ping(() => resolve()));
}

interface Upload {
  readonly stream: ClientHttp2Stream;
  /** Undefined while there is no answer. */
  status: number | undefined;
  send(bytes: number): Promise<void>;
}

function beginUpload(session: ClientHttp2Session, headers: Record<string, string> = {}): Upload {
  const stream = session.request({ ":method": "POST", ...headers }, { endStream: false });
  const upload: Upload = {
    stream,
    status: undefined,
    send: (bytes) => new Promise((resolve) => stream.write(new Uint8Array(bytes), () => resolve())),
  };
  stream.on("error", () => undefined);
  stream.on("response", (fields) => {
    upload.status = fields[":status"];
  });
  stream.resume();
  return upload;
}

/** Sends the beginning of a POST over HTTP/1.1, from an address of the loopback network. */
async function beginHttp1(port: number, localAddress: string, bytes: number, fields = ""): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => undefined);
  socket.write(`POST / HTTP/1.1\r\nhost: a\r\n${fields}content-length: ${16 * mebibyte}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.write(new Uint8Array(bytes), () => resolve()));
  return socket;
}

describe("the request bodies of one HTTP/2 connection", () => {
  it("hold no more than its limit: the largest are refused, a small one is taken", async () => {
    await using listener = await listen(measure, { maxBodyBytesPerConnection: 4 * mebibyte });
    using session = openHttp2(listener.url);
    const uploads = Array.from({ length: 20 }, () => beginUpload(session));
    for (const upload of uploads) await upload.send(mebibyte);
    const small = await callHttp2(session, { ":method": "POST" }, new Uint8Array(100));
    expect([small.headers[":status"], small.body]).toEqual([200, "100"]);
    // With the small one four would be over the limit.
    await expect.poll(() => uploads.filter(({ status }) => status === 429).length).toBe(17);
    const open = uploads.filter(({ status }) => status === undefined);
    for (const { stream } of open) stream.end();
    await Promise.all(open.map(({ stream }) => once(stream, "close")));
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("count when they are not read, too", async () => {
    const gate = createGate();
    const unread: HttpRequest[] = [];
    await using listener = await listen(
      async (request) => {
        unread.push(request);
        await gate.opened;
        return measure(request);
      },
      { maxBodyBytesPerConnection: mebibyte },
    );
    using session = openHttp2(listener.url);
    const uploads = Array.from({ length: 8 }, () => beginUpload(session));
    for (const { stream, send } of uploads) {
      await send(mebibyte / 2);
      stream.end();
    }
    await seen(session);
    gate.open();
    await Promise.all(uploads.map(({ stream }) => once(stream, "close")));
    expect(uploads.map(({ status }) => status).sort()).toEqual([200, 200, ...Array(6).fill(429)]);
  });

  it("may be one that is larger than the limit", async () => {
    await using listener = await listen(measure, {
      maxBodyBytesPerConnection: 1_000,
      maxTotalBodyBytes: 1_000,
    });
    using session = openHttp2(listener.url);
    const answer = await callHttp2(session, { ":method": "POST" }, new Uint8Array(mebibyte));
    expect(answer.body).toBe(String(mebibyte));
  });

  it("count no more when a message was made of them, though the call goes on", async () => {
    const gate = createGate();
    let made = 0;
    await using listener = await listen(
      async (request) => {
        const { length } = await readBytes(request, 16 * mebibyte);
        await request.body.release?.();
        made += 1;
        await gate.opened;
        return json(length);
      },
      { maxBodyBytesPerConnection: mebibyte, maxTotalBodyBytes: mebibyte },
    );
    using session = openHttp2(listener.url);
    const calls = [];
    for (let count = 0; count < 5; count += 1) {
      calls.push(callHttp2(session, { ":method": "POST" }, new Uint8Array(mebibyte)));
      await expect.poll(() => made).toBe(count + 1);
    }
    gate.open();
    for (const { headers } of await Promise.all(calls)) expect(headers[":status"]).toBe(200);
  });
});

describe("compressed bodies that wait to become messages", () => {
  it("count with what they were decompressed to: no more of them wait than have room", async () => {
    const gate = createGate();
    const answerJsonRpc = createJsonRpcHandler(createServiceImplSpec(A2AService, {}), {
      compressions: [compressionGzip],
    });
    const handler: HttpHandler = async (request) => {
      if (!request.url.endsWith("/first")) return answerJsonRpc(request);
      await readBytes(request, mebibyte);
      await request.body.turnBeforeMessage?.(64 * 1024, request.callerNetwork);
      await gate.opened;
      return { status: 204 };
    };
    await using listener = await listen(handler, { maxTotalBodyBytes: mebibyte });
    using session = openHttp2(listener.url);
    const first = callHttp2(session, { ":method": "POST", ":path": "/first" }, new Uint8Array(10));
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x" }).padEnd(64 * 1024);
    const fields = { ":method": "POST", "content-type": "application/json", "content-encoding": "gzip" };
    const statuses: unknown[] = [];
    const calls = Array.from({ length: 40 }, async () => {
      const answer = await callHttp2(session, fields, gzipSync(text));
      statuses.push(answer.body.includes("CAPACITY") ? "CAPACITY" : answer.headers[":status"]);
    });
    // Sixteen would leave no room for the bytes that came.
    await expect.poll(() => statuses).toEqual(Array(25).fill("CAPACITY"));
    gate.open();
    await Promise.all([first, ...calls]);
    expect(statuses.slice(25)).toEqual(Array(15).fill(200));
  });
});

describe("the request bodies of all connections", () => {
  it("hold no more than the limit: who holds most loses, and no other caller does", async () => {
    const arrivals: string[] = [];
    await using listener = await listen(
      async (request) => {
        const answer = await measure(request);
        arrivals.push(String(answer.status));
        return answer;
      },
      { maxTotalBodyBytes: 4 * mebibyte },
    );
    const hogs: Socket[] = [];
    for (let count = 0; count < 8; count += 1) {
      hogs.push(await beginHttp1(listener.port, "127.0.0.2", mebibyte));
    }
    // The other caller's body is the largest of all, but it is all that this caller has.
    const session = openHttp2(listener.url);
    const answer = await callHttp2(session, { ":method": "POST" }, new Uint8Array(1.5 * mebibyte));
    expect([answer.headers[":status"], answer.body]).toEqual([200, String(1.5 * mebibyte)]);
    await expect.poll(() => arrivals.filter((status) => status === "429").length).toBeGreaterThanOrEqual(4);
    session.close();
    for (const socket of hogs) socket.destroy();
  });
});

describe("the request bodies that a trusted proxy passes on", () => {
  const alice = { "x-forwarded-for": "203.0.113.1" };
  const bob = { "x-forwarded-for": "203.0.113.2" };

  it("count for the caller that the proxy tells, over one HTTP/2 connection", async () => {
    await using listener = await listen(measure, {
      trustedProxies: ["loopback"],
      maxTotalBodyBytes: 4 * mebibyte,
    });
    using session = openHttp2(listener.url);
    const hogs = Array.from({ length: 8 }, () => beginUpload(session, alice));
    for (const { send } of hogs) await send(mebibyte);
    // A call of hers that ends leaves the others counted.
    expect((await callHttp2(session, { ":method": "POST", ...alice }, new Uint8Array(10))).body).toBe("10");
    // The other caller's body is the largest of all.
    const answer = await callHttp2(session, { ":method": "POST", ...bob }, new Uint8Array(2 * mebibyte));
    expect([answer.headers[":status"], answer.body]).toEqual([200, String(2 * mebibyte)]);
    await expect.poll(() => hogs.filter(({ status }) => status === 429).length).toBe(6);
  });

  it("count for the caller that the proxy tells, over many HTTP/1.1 connections", async () => {
    let refused = 0;
    await using listener = await listen(
      async (request) => {
        const answer = await measure(request);
        if (answer.status === 429) refused += 1;
        return answer;
      },
      { trustedProxies: ["loopback"], maxTotalBodyBytes: 4 * mebibyte },
    );
    const hogs: Socket[] = [];
    for (let count = 0; count < 8; count += 1) {
      const fields = "x-forwarded-for: 203.0.113.1\r\n";
      hogs.push(await beginHttp1(listener.port, "127.0.0.1", mebibyte, fields));
    }
    await expect.poll(() => refused).toBe(4);
    const answer = await fetch(listener.url, {
      method: "POST",
      headers: bob,
      body: new Uint8Array(2 * mebibyte),
    });
    expect([answer.status, await answer.text()]).toEqual([200, String(2 * mebibyte)]);
    expect(refused).toBe(6);
    for (const socket of hogs) socket.destroy();
  });

  it("have the limit of one connection for each caller that the proxy tells", async () => {
    await using listener = await listen(measure, {
      trustedProxies: ["loopback"],
      maxBodyBytesPerConnection: 2 * mebibyte,
    });
    using session = openHttp2(listener.url);
    const hogs = Array.from({ length: 5 }, () => beginUpload(session, alice));
    for (const { send } of hogs) await send(mebibyte);
    await expect.poll(() => hogs.filter(({ status }) => status === 429).length).toBe(3);
    const answer = await callHttp2(session, { ":method": "POST", ...bob }, new Uint8Array(1.5 * mebibyte));
    expect([answer.headers[":status"], answer.body]).toEqual([200, String(1.5 * mebibyte)]);
    expect(hogs.filter(({ status }) => status === 429)).toHaveLength(3);
  });

  it("count for the proxy when it tells no caller", async () => {
    await using listener = await listen(measure, {
      trustedProxies: ["loopback"],
      maxBodyBytesPerConnection: 2 * mebibyte,
    });
    using session = openHttp2(listener.url);
    const uploads = Array.from({ length: 5 }, () => beginUpload(session));
    for (const { send } of uploads) await send(mebibyte);
    await expect.poll(() => uploads.filter(({ status }) => status === 429).length).toBe(3);
  });
});

describe("a large body's turn", () => {
  /** Says what happens in which order; `parse` waits for the test. */
  function createParser() {
    const events: string[] = [];
    const gates = new Map<string, ReturnType<typeof createGate>>();
    const handler: HttpHandler = async (request) => {
      const name = new URL(request.url).pathname.slice(1);
      request.signal.addEventListener("abort", () => events.push(`${name} is gone`));
      const gate = createGate();
      gates.set(name, gate);
      await readBytes(request, mebibyte);
      events.push(`${name} is whole`);
      try {
        await request.body.turnBeforeMessage?.(mebibyte, request.callerNetwork);
      } catch (error) {
        events.push(`${name} fails: ${ConnectError.from(error).rawMessage}`);
        return { status: 500 };
      }
      events.push(`${name} begins`);
      await gate.opened;
      request.body.release?.();
      return { status: 200 };
    };
    const send = async (session: ClientHttp2Session, name: string) => {
      const stream = session.request({ ":method": "POST", ":path": `/${name}` });
      stream.on("error", () => undefined).resume();
      stream.end(new Uint8Array(100));
      await expect.poll(() => events).toContain(`${name} is whole`);
      return stream;
    };
    return { events, handler, send, finish: (name: string) => gates.get(name)?.open() };
  }

  it("comes one after the other to bodies of a caller, to those of others meanwhile, and to none whose caller has gone", async () => {
    const { events, handler, send, finish } = createParser();
    await using listener = await listen(handler);
    using session = openHttp2(listener.url);
    await send(session, "first");
    const second = await send(session, "second");
    const third = await send(session, "third");
    const fromElsewhere = connect({ port: listener.port, host: "127.0.0.1", localAddress: "127.0.0.2" });
    fromElsewhere.write("POST /other HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok");
    await expect.poll(() => events).toContain("other is whole");
    second.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => events).toContain("second fails: the caller went away");
    const begun = (): string[] => events.filter((event) => event.endsWith("begins"));
    await expect.poll(begun).toEqual(["first begins", "other begins"]);
    finish("other");
    await once(fromElsewhere, "data");
    finish("first");
    await expect.poll(begun).toEqual(["first begins", "other begins", "third begins"]);
    finish("third");
    await once(third, "close");
    fromElsewhere.destroy();
  });

  it("comes to each caller when they share the connection of a trusted proxy", async () => {
    const { events, handler, finish } = createParser();
    await using listener = await listen(handler, { trustedProxies: ["loopback"] });
    using session = openHttp2(listener.url);
    for (const [name, address] of [
      ["first", "203.0.113.1"],
      ["second", "203.0.113.1"],
      ["third", "203.0.113.1"],
      ["other", "203.0.113.2"],
    ] as const) {
      const stream = session.request({ ":method": "POST", ":path": `/${name}`, "x-forwarded-for": address });
      stream.resume().end(new Uint8Array(100));
      await expect.poll(() => events).toContain(`${name} is whole`);
    }
    const begun = (): string[] => events.filter((event) => event.endsWith("begins"));
    await expect.poll(begun).toEqual(["first begins", "other begins"]);
    finish("other");
    finish("first");
    await expect.poll(begun).toContain("second begins");
    expect(begun()).not.toContain("third begins");
    finish("second");
    await expect.poll(begun).toContain("third begins");
    finish("third");
  });

  it("goes on when its caller goes, until the handler has ended: its message is still being made", async () => {
    const { events, handler, send, finish } = createParser();
    await using listener = await listen(handler);
    using session = openHttp2(listener.url);
    const first = await send(session, "first");
    await send(session, "second");
    first.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => events).toContain("first is gone");
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(events).not.toContain("second begins");
    finish("first");
    await expect.poll(() => events).toContain("second begins");
    finish("second");
  });

  it("does not come to a body whose call was answered before", async () => {
    const { events, handler, send, finish } = createParser();
    await using listener = await listen(async (request) => {
      if (!request.url.endsWith("/hasty")) return handler(request);
      await readBytes(request, mebibyte);
      void request.body.turnBeforeMessage?.(mebibyte, request.callerNetwork);
      return { status: 200 };
    });
    using session = openHttp2(listener.url);
    await send(session, "first");
    const hasty = await callHttp2(session, { ":method": "POST", ":path": "/hasty" }, new Uint8Array(100));
    expect(hasty.headers[":status"]).toBe(200);
    await send(session, "last");
    finish("first");
    await expect.poll(() => events).toContain("last begins");
    finish("last");
  });

  it("ends with the answer of a handler that does not end it", async () => {
    await using listener = await listen(async (request) => {
      await readBytes(request, mebibyte);
      await request.body.turnBeforeMessage?.(mebibyte, request.callerNetwork);
      throw new Error("broken");
    });
    using session = openHttp2(listener.url);
    for (const _ of [1, 2, 3]) {
      expect((await callHttp2(session, { ":method": "POST" }, new Uint8Array(10))).headers[":status"]).toBe(
        500,
      );
    }
  });
});
