import { once } from "node:events";
import type { OutgoingHttpHeaders } from "node:http";
import { connect, constants } from "node:http2";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpHandler, HttpRequest } from "@a2a-connect/bindings";
import { expect, it } from "vitest";
import { createGate, readBytes } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import {
  formatFrame,
  frameTypes,
  openSilentHttp2,
  parseFrames,
  requestFrame,
} from "../../test-support/http2-frames.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

const nothing = Buffer.alloc(0);
const frame = (type: number, flags: number, streamId: number, payload: Buffer = nothing): Buffer =>
  formatFrame({ type, flags, streamId, payload });

/** A request whose body follows: HEADERS without END_STREAM. */
const withBody = requestFrame(1);
withBody.writeUInt8(0x4, 4);
/** The same, whose fields go on: without END_HEADERS. */
const unfinished = requestFrame(1);
unfinished.writeUInt8(0, 4);

const padded = 0x8;
/** SETTINGS_NO_RFC7540_PRIORITIES (RFC 9218 §2.1). */
const noStreamDependencies = 0x9;
const floods: readonly (readonly [what: string, first: Buffer, frame: (at: number) => Buffer])[] = [
  ["empty DATA", withBody, () => frame(0, 0, 1)],
  ["padded empty DATA", withBody, () => frame(0, padded, 1, Buffer.alloc(1))],
  ["CONTINUATION", unfinished, () => frame(9, 0, 1)],
  ["PRIORITY", withBody, () => frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
  ["SETTINGS whose answers it reads", nothing, () => frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0x40, 0]))],
  ["GOAWAY", withBody, () => frame(7, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xfe, 0, 0, 0, 0]))],
  ["frames of an unknown type", nothing, () => frame(0x55, 0, 0)],
  [
    "requests that are reset",
    nothing,
    (at) => Buffer.concat([requestFrame(2 * at + 1), frame(3, 0, 2 * at + 1, Buffer.from([0, 0, 0, 8]))]),
  ],
];

/** More than Node's own limits let pass, and too few to take long. */
const most = 40_000;
const piece = 200;

for (const [what, first, next] of floods) {
  it(`an HTTP/2 peer that floods us with ${what} is cut, and others are served`, async () => {
    await using listener = await listen(async (request) => {
      for await (const _ of request.body) {
        // all that comes
      }
      return { status: 200, body: "read" };
    });
    using connection = await openRawConnection(listener.port);
    const closed = connection.closed();
    await openSilentHttp2(connection);
    await connection.write(first);
    let sent = 0;
    while (!connection.socket.destroyed && sent < most) {
      const frames = Array.from({ length: piece }, (_, at) => next(sent + at));
      sent += piece;
      await Promise.race([connection.write(Buffer.concat(frames)), closed]);
      await nextTurn(); // the listener is in this process, too
    }
    if (sent >= most) expect.fail(`${sent} frames were taken`);
    const goAway = parseFrames(await closed).find(({ type }) => type === frameTypes.goAway);
    const isTold = goAway !== undefined && what !== "GOAWAY"; // a cut may overtake its reason, and a GOAWAY is answered by one
    expect(isTold ? goAway.payload.readUInt32BE(4) : 1).not.toBe(0);
    const session = openHttp2(listener.url);
    expect((await callHttp2(session, {})).body).toBe("read");
    session.close();
    await once(session, "close");
  });
}

const zero = Buffer.alloc(4);
const tooMuch = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
const connectionErrors: readonly (readonly [what: string, frame: Buffer])[] = [
  ["WINDOW_UPDATE of 0", frame(8, 0, 0, zero)],
  ["WINDOW_UPDATE of 0 for a stream", frame(8, 0, 1, zero)],
  ["a window beyond the limit", frame(8, 0, 0, tooMuch)],
  ["a stream's window beyond the limit", frame(8, 0, 1, tooMuch)],
  ["DATA for no stream", frame(0, 0, 0, Buffer.from("x"))],
  ["DATA for a stream that was not opened", frame(0, 0, 999, Buffer.from("x"))],
  ["HEADERS of a stream with an even number", requestFrame(2)],
  ["HEADERS that are no HPACK", frame(1, 4, 201, Buffer.alloc(6, 0xff))],
  ["SETTINGS out of range", frame(4, 0, 0, Buffer.concat([Buffer.from([0, 4]), Buffer.alloc(4, 0xff)]))],
  ["PUSH_PROMISE", frame(5, 4, 1, Buffer.from([0, 0, 0, 2]))],
];

for (const [what, error] of connectionErrors) {
  it.each([1, 50])(
    `${what} in one packet with %i requests ends its own connection alone`,
    async (requests) => {
      await using listener = await listen(async () => ({ status: 200, body: "served" }));
      for (const ended of [0x5, 0x4]) {
        using connection = await openRawConnection(listener.port);
        const heads = Array.from({ length: requests }, (_, at) => {
          const head = requestFrame(2 * at + 1);
          head.writeUInt8(ended, 4);
          return head;
        });
        await connection.write(
          Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0), ...heads, error]),
        );
        await connection.closed();
      }
      const session = openHttp2(listener.url);
      expect((await callHttp2(session, {})).body).toBe("served");
      session.close();
      await once(session, "close");
    },
  );
}

it("requests of one packet that have no places, and a bad frame behind them, end their own connection alone", async () => {
  await using listener = await listen(async () => ({ status: 200, body: "served" }), { maxStreams: 8 });
  for (const error of [
    frame(8, 0, 0, zero),
    frame(frameTypes.goAway, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])),
  ]) {
    using connection = await openRawConnection(listener.port);
    const requests = Array.from({ length: 1_100 }, (_, at) => requestFrame(2 * at + 1)); // beyond what is refused at most
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    await connection.write(Buffer.concat([preface, frame(frameTypes.settings, 0, 0), ...requests, error]));
    await connection.closed();
    // The places are free again: another call is served.
    const session = openHttp2(listener.url);
    expect((await callHttp2(session, {})).body).toBe("served");
    session.close();
    await once(session, "close");
  }
});

it("requests that wait for 100 Continue and are reset in the same packet are not answered", async () => {
  await using listener = await listen(async () => ({ status: 200, body: "served" }));
  const expects = Buffer.from("\u0000\u0006expect\u000c100-continue", "latin1");
  using connection = await openRawConnection(listener.port);
  await openSilentHttp2(connection);
  for (let at = 0; at < 50; at += 1) {
    const id = 2 * at + 1;
    const head = frame(1, 0x4, id, Buffer.concat([requestFrame(id).subarray(9), expects]));
    await connection.write(Buffer.concat([head, frame(3, 0, id, Buffer.from([0, 0, 0, 8]))]));
    await nextTurn();
  }
  const session = openHttp2(listener.url);
  expect((await callHttp2(session, {})).body).toBe("served");
  session.close();
  await once(session, "close");
});

it("of many requests that arrive at once few are begun in a turn of the event loop", async () => {
  const requests = 500;
  let turn = 0;
  let counting = true;
  const count = (): void => {
    turn += 1;
    if (counting) setImmediate(count);
  };
  count();
  const begun = new Map<number, number>();
  await using listener = await listen(async () => {
    begun.set(turn, (begun.get(turn) ?? 0) + 1);
    return { status: 200 };
  });
  using connection = await openRawConnection(listener.port);
  await openSilentHttp2(connection);
  await connection.write(
    Buffer.concat(Array.from({ length: requests }, (_, at) => requestFrame(2 * at + 1))),
  );
  const total = (): number => [...begun.values()].reduce((sum, one) => sum + one, 0);
  while (total() < requests) await nextTurn();
  counting = false;
  // Eight of a connection. Two of the server's turns may fall into one of ours, and where a turn takes long (10 ms) the port
  // lets the rest wait: then up to 64 begin in the next.
  const perTurn = [...begun.values()].sort((a, b) => a - b);
  expect(perTurn[Math.floor(perTurn.length / 2)]).toBeLessThanOrEqual(2 * 8);
  expect(perTurn.at(-1)).toBeLessThanOrEqual(2 * 64);
});

it.each([
  ["ends", "destroy"],
  ["breaks", "resetAndDestroy"],
] as const)(
  "of many requests whose connection %s in the middle of their bodies few are refused in a turn of the event loop, and none is taken for whole",
  async (_, cut) => {
    const requests = 1_000;
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    let waiting = 0;
    let left = requests;
    let endedInTurn = 0;
    let mostInTurn = 0;
    await using listener = await listen(async ({ body }) => {
      waiting += 1;
      if (waiting === requests) begun.resolve();
      const isRefused = await body.bytes?.(1_000).then(
        () => false,
        () => true,
      );
      expect.soft(isRefused).toBe(true);
      if (endedInTurn === 0) {
        setImmediate(() => {
          endedInTurn = 0;
        });
      }
      endedInTurn += 1;
      mostInTurn = Math.max(mostInTurn, endedInTurn);
      left -= 1;
      if (left === 0) ended.resolve();
      return { status: 200 };
    });
    const connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    const heads = Array.from({ length: requests }, (_, at) => {
      const head = requestFrame(2 * at + 1);
      head.writeUInt8(0x4, 4); // a body follows
      return head;
    });
    await connection.write(Buffer.concat(heads));
    await begun.promise;
    connection.socket[cut]();
    await ended.promise;
    expect(mostInTurn).toBeLessThanOrEqual(2 * 64);
  },
);

it.each([
  ["as a whole", readBytes],
  ["piece by piece", readPieces],
] as const)(
  "of many requests whose bodies are read %s and end at the same moment few go on in a turn of the event loop",
  async (_, read) => {
    const requests = 1_000;
    const begun = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    let waiting = 0;
    let left = requests;
    const perTurn = [0];
    await using listener = await listen(async (request) => {
      waiting += 1;
      if (waiting === requests) begun.resolve();
      expect.soft(await read(request, 1_000)).toEqual(new Uint8Array([7]));
      if (perTurn.at(-1) === 0) setImmediate(() => perTurn.push(0));
      perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1;
      left -= 1;
      if (left === 0) done.resolve();
      return { status: 200 };
    });
    using connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    const ids = Array.from({ length: requests }, (_, at) => 2 * at + 1);
    const heads = ids.map((id) => {
      const head = requestFrame(id);
      head.writeUInt8(0x4, 4); // a body follows
      return head;
    });
    await connection.write(Buffer.concat(heads));
    await begun.promise;
    const last = 0x1;
    await connection.write(Buffer.concat(ids.map((id) => frame(0, last, id, Buffer.from([7])))));
    await done.promise;
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2 * 64); // two of the server's turns may fall into one of ours
  },
);

async function readPieces({ body }: HttpRequest): Promise<Uint8Array> {
  return new Uint8Array(Buffer.concat(await Array.fromAsync(body)));
}

it("begins the requests of callers in turn that come over one connection of a trusted proxy", async () => {
  const begun: (string | undefined)[] = [];
  const handler: HttpHandler = async ({ callerNetwork }) => {
    begun.push(callerNetwork);
    return { status: 200 };
  };
  await using listener = await listen(handler, { trustedProxies: ["loopback"] });
  using session = openHttp2(listener.url);
  await once(session, "remoteSettings");
  const addresses = [...Array<string>(90).fill("203.0.113.1"), "203.0.113.2"];
  await Promise.all(
    addresses.map(async (address) => {
      const stream = session.request({ ":path": "/", "x-forwarded-for": address });
      await once(stream.resume(), "close");
    }),
  );
  expect(begun).toHaveLength(91);
  expect(begun.indexOf("203.0.113.2")).toBeLessThan(40);
});

it("goes on with the connection of a trusted proxy when one of its callers gives up thousands of calls at once", async () => {
  const gate = createGate();
  let begun = 0;
  const handler: HttpHandler = async () => {
    begun += 1;
    await gate.opened;
    return { status: 200 };
  };
  await using listener = await listen(handler, { trustedProxies: ["loopback"] });
  using session = openHttp2(listener.url);
  await once(session, "remoteSettings");
  const call = (address: string) => session.request({ "x-forwarded-for": address }).resume();
  const greedy = Array.from({ length: 3_000 }, () => call("203.0.113.1").on("error", () => undefined));
  const other = call("203.0.113.2");
  const answered = once(other, "response");
  await expect.poll(() => begun).toBe(3_001);
  const closed = greedy.map((stream) => once(stream, "close"));
  for (const stream of greedy) stream.close(constants.NGHTTP2_CANCEL);
  await Promise.all(closed);
  await new Promise((resolve) => session.ping(resolve)); // the server has read all of that
  gate.open();
  expect((await answered)[0][":status"]).toBe(200);
});

it.each([
  ["keeps", { "x-forwarded-for": "203.0.113.1" }],
  ["contradicts the proxy, and keeps", { "x-forwarded-for": "203.0.113.1", forwarded: "for=203.0.113.9" }],
])(
  "refuses calls with 429 of a caller behind a trusted proxy that %s most of those that the proxy may have, and of no other caller",
  async (_, greedy) => {
    const gate = createGate();
    const handler: HttpHandler = async () => {
      await gate.opened;
      return { status: 200 };
    };
    const maxConnections = 64; // a proxy may have 56 of them, and one of its callers 49 of these
    await using listener = await listen(handler, { trustedProxies: ["loopback"], maxConnections });
    using session = openHttp2(listener.url);
    await once(session, "remoteSettings");
    const call = async (fields: OutgoingHttpHeaders): Promise<unknown> => {
      const stream = session.request({ ":path": "/", ...fields });
      const [head] = await once(stream, "response");
      const body = await text(stream);
      return head[":status"] === 429 ? JSON.parse(body) : head[":status"];
    };
    const refusal = expect.objectContaining({
      error: expect.objectContaining({ status: "RESOURCE_EXHAUSTED" }),
    });
    const answers: unknown[] = [];
    const refused = Promise.withResolvers<void>();
    const calls = Array.from({ length: maxConnections }, async () => {
      answers.push(await call(greedy));
      if (answers.length === maxConnections - 49) refused.resolve();
    });
    await refused.promise;
    expect(answers).toEqual(Array(maxConnections - 49).fill(refusal));
    const other = call({ "x-forwarded-for": "203.0.113.2" });
    gate.open();
    expect(await other).toBe(200);
    await Promise.all(calls);
    expect(answers.slice(-49)).toEqual(Array(49).fill(200));
    expect(await call(greedy)).toBe(200);
  },
);

it("says that it keeps no tree of dependent streams, which its parser does not keep then", async () => {
  await using listener = await listen(async () => ({ status: 200, body: "served" }));
  const session = connect(listener.url, { remoteCustomSettings: [noStreamDependencies] });
  const [settings] = await once(session, "remoteSettings");
  expect(settings.customSettings).toEqual({ [noStreamDependencies]: 1 });
  session.close();
  await once(session, "close");
});
