import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpHandler } from "@a2a-connect/bindings";
import { createSelfSignedCertificate, createTurnCount } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { formatFrame, frameTypes, requestFrame, trailersFrame } from "../../../test-support/http2-frames.ts";
import { openRawConnection } from "../../../test-support/raw-connection.ts";
import { listen } from "../listen.ts";
import { Arrivals, type ArrivalsOptions } from "./arrivals.ts";
import { LoopTurns } from "./loop-turns.ts";

const connections = 20;
const requests = 200;

const certificate = createSelfSignedCertificate();

/** A version of HTTP, whose connections bring their requests in one packet each. */
interface Flood {
  readonly version: string;
  /** Its name in TLS. */
  readonly alpn: string;
  /** Where Node tells of each request that it has made an object of. */
  readonly channel: string;
  /** What a connection begins with. */
  readonly preface: Buffer;
  readonly formatRequest: (at: number) => Buffer;
}

const http2Preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  formatFrame({ type: frameTypes.settings, flags: 0, streamId: 0, payload: Buffer.alloc(0) }),
]);

const floods: readonly Flood[] = [
  {
    version: "HTTP/1.1",
    alpn: "http/1.1",
    channel: "http.server.request.start",
    preface: Buffer.alloc(0),
    formatRequest: () => Buffer.from("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"),
  },
  {
    version: "HTTP/2",
    alpn: "h2",
    channel: "http2.server.stream.created",
    preface: http2Preface,
    formatRequest: (at) => requestFrame(2 * at + 1),
  },
];

describe("in a turn of the event loop few requests arrive", () => {
  for (const { version, alpn, channel, preface, formatRequest } of floods) {
    for (const tls of [false, true]) {
      it(`of any number of ${version} connections${tls ? " over TLS" : ""}`, async () => {
        const { served, handler } = createServed();
        await using listener = await listen(handler, tls ? { tls: certificate } : {});
        const secure = tls ? { ca: certificate.cert, ALPNProtocols: [alpn] } : undefined;
        using opened = new DisposableStack();
        const open = async () => {
          const connection = opened.use(await openRawConnection(listener.port, secure));
          await connection.write(Buffer.concat([preface, formatRequest(0)]));
          return connection;
        };
        const all = await Promise.all(Array.from({ length: connections }, open));
        await served(connections); // from here on all of them are read
        using arrivals = countArrivals(channel);
        const packet = Buffer.concat(Array.from({ length: requests }, (_, at) => formatRequest(1 + at)));
        for (const connection of all) void connection.write(packet);
        await served(connections * (1 + requests));
        expect(arrivals.total).toBe(connections * requests);
        expect(arrivals.mostInATurn).toBeLessThanOrEqual(128 + requests);
      });
    }

    it(`of new ${version} connections, which bring many at once`, async () => {
      const { served, handler } = createServed();
      await using listener = await listen(handler);
      using opened = new DisposableStack();
      const accepted = Promise.withResolvers<void>();
      let count = 0;
      const accept = (): void => {
        count += 1;
        if (count === connections) accepted.resolve();
      };
      subscribe("net.server.socket", accept);
      opened.defer(() => void unsubscribe("net.server.socket", accept));
      const open = async () => opened.use(await openRawConnection(listener.port));
      const all = await Promise.all(Array.from({ length: connections }, open));
      await accepted.promise;
      using arrivals = countArrivals(channel);
      const packet = [preface, ...Array.from({ length: requests }, (_, at) => formatRequest(at))];
      for (const connection of all) void connection.write(Buffer.concat(packet));
      await served(connections * requests);
      expect(arrivals.total).toBe(connections * requests);
      // Two connections: they begin in immediates, and so does the count anew.
      expect(arrivals.mostInATurn).toBeLessThanOrEqual(128 + 2 * requests);
    });
  }
});

describe("names that are too long, of which Node makes objects before they are refused", () => {
  /** @param name of a field of each */
  const endings = {
    headers: (name: string) => requestFrame(3, { [name]: "x" }),
    trailers: (name: string) => trailersFrame(1, { [name]: "x" }),
  };

  it.each([
    ["headers", false],
    ["headers", true],
    ["trailers", false],
    ["trailers", true],
  ] as const)("arrive in a turn from one connection, in %s, over TLS: %s", async (kind, tls) => {
    const { served, handler: serve } = createServed();
    const handler: HttpHandler = async ({ body }) => {
      await serve();
      for await (const _ of body);
      return { status: 200 };
    };
    const ended = createTurnCount();
    const allEnded = Promise.withResolvers<void>();
    const count = (): void => {
      ended.count();
      if (ended.total === connections) allEnded.resolve();
    };
    await using listener = await listen(handler, tls ? { tls: certificate } : {});
    const secure = tls ? { ca: certificate.cert, ALPNProtocols: ["h2"] } : undefined;
    using opened = new DisposableStack();
    const watch = (message: unknown): void => {
      const { stream } = message as { stream: EventEmitter };
      if (kind === "trailers") stream.on("trailers", count);
      else if (isSent) count();
    };
    subscribe("http2.server.stream.created", watch);
    opened.defer(() => void unsubscribe("http2.server.stream.created", watch));
    let isSent = false;
    const open = async () => {
      const connection = opened.use(await openRawConnection(listener.port, secure));
      await connection.write(Buffer.concat([http2Preface, requestWithBody()]));
      return connection;
    };
    const all = await Promise.all(Array.from({ length: connections }, open));
    await served(connections); // from here on all of them are read
    isSent = true;
    for (const connection of all) void connection.write(endings[kind]("x".repeat(2_000)));
    await allEnded.promise;
    expect(ended).toMatchObject({ total: connections, mostInATurn: 1 });
  });
});

const pieces = 3_000;

const bodies = [
  {
    version: "HTTP/1.1",
    head: Buffer.from("POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"),
    piece: Buffer.from("1\r\nx\r\n"),
  },
  {
    version: "HTTP/2",
    head: Buffer.concat([http2Preface, requestWithBody()]),
    piece: formatFrame({ type: 0, flags: 0, streamId: 1, payload: Buffer.from("x") }),
  },
];

describe.each(bodies)("pieces of bodies of any number of $version connections", ({ head, piece }) => {
  it("arrive few in a turn of the event loop", async () => {
    await using flood = await openFlood(head);
    await flood.send(piece);
    expect(flood.arrivals.mostInATurn).toBeLessThanOrEqual(1_024 + pieces);
  });

  it("keep no other caller waiting on a connection that it has", async () => {
    await using flood = await openFlood(head);
    using agent = Object.assign(new Agent({ keepAlive: true }), {
      [Symbol.dispose]: () => agent.destroy(),
    });
    const ask = async (): Promise<number> => {
      const address = { host: "127.0.0.1", port: flood.port, localAddress: "127.0.0.2" };
      const [response] = (await once(request({ ...address, agent }).end(), "response")) as [IncomingMessage];
      for await (const _ of response);
      return flood.arrivals.total;
    };
    await ask();
    const sent = flood.send(piece);
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(await ask()).toBeLessThanOrEqual(4 * turn * (1_024 + pieces)); // each answer takes a few turns
    }
    await sent;
  });
});

describe("pieces of HTTP/1.1 bodies that arrive in packets of 64 KiB, or before their connection has a parser", () => {
  it("arrive few in a turn of the event loop", async () => {
    const piecesOfOne = 20_000; // 120 KB: Node reads up to 128 KiB of a connection that has no parser yet
    const { arrivals, handler, all } = countPieces(connections * piecesOfOne);
    await using listener = await listen(handler);
    using opened = new DisposableStack();
    const head = Buffer.from("POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    const request = Buffer.concat([head, Buffer.from("1\r\nx\r\n".repeat(piecesOfOne))]);
    for (let at = 0; at < connections; at += 1) {
      void opened.use(await openRawConnection(listener.port)).write(request);
    }
    await all;
    const slice = Math.ceil((16 * 1024) / 6);
    expect(arrivals.mostInATurn).toBeLessThanOrEqual(1_024 + 2 * slice);
  });
});

describe("bytes of which a parser makes no request", () => {
  /** A port that reads a megabyte of each connection that is not stopped, and tells of how many. */
  function createPort(options: ArrivalsOptions = {}) {
    let busyMs = 0;
    const arrivals = new Arrivals(256, { ...options, turns: new LoopTurns(() => busyMs) });
    const readAll = async (each: readonly FakeConnection[], ms: number): Promise<number> => {
      const read = each.filter(({ _handle }) => _handle.isRead);
      for (const { _handle } of read) {
        _handle.bytesRead += 1024 * 1024;
        busyMs += ms;
      }
      await nextTurn();
      return read.length;
    };
    return { arrivals, readAll };
  }

  it("arrive from few connections of a caller at a time where they make turns long, from all of them in turns", async () => {
    const { arrivals, readAll } = createPort();
    const [greedy, other] = [{}, {}];
    const all = Array.from({ length: 100 }, () => new FakeConnection());
    const alone = new FakeConnection();
    for (const each of all) arrivals.join(greedy, each as unknown as Socket, () => undefined);
    arrivals.join(other, alone as unknown as Socket, () => undefined);
    expect(await readAll(all, 5)).toBe(100);
    await nextTurn();
    for (let turn = 0; turn < 200; turn += 1) {
      expect(await readAll(all, 5)).toBeLessThanOrEqual(4);
      expect(alone._handle.isRead).toBe(true);
    }
    expect(all.every(({ _handle }) => _handle.bytesRead >= 2 * 1024 * 1024)).toBe(true);
  });

  it("arrive from all connections again when they make no turn long", async () => {
    const { arrivals, readAll } = createPort();
    const greedy = {};
    const all = Array.from({ length: 100 }, () => new FakeConnection());
    for (const each of all) arrivals.join(greedy, each as unknown as Socket, () => undefined);
    await readAll(all, 5);
    await nextTurn();
    let turns = 0;
    while ((await readAll(all, 0)) < 100) turns += 1;
    expect(turns).toBeLessThan(20);
    await nextTurn();
    expect(countBegun(arrivals, greedy, 100)).toBe(100);
  });

  it("arrive from all new connections again when those are closed that made a turn long", async () => {
    const { arrivals, readAll } = createPort();
    const greedy = {};
    const all = Array.from({ length: 100 }, () => new FakeConnection());
    for (const each of all) arrivals.join(greedy, each as unknown as Socket, () => undefined);
    await readAll(all, 5);
    for (const each of all.slice(1)) each.emit("close");
    await nextTurn();
    expect(countBegun(arrivals, greedy, 100)).toBe(100);
  });

  it("arrive from few of those that have waited to begin, too", async () => {
    const { arrivals, readAll } = createPort({ mostBegins: 16 });
    const greedy = {};
    arrivals.join(greedy, new FakeConnection() as unknown as Socket, () => undefined);
    arrivals.count(greedy, 256); // nothing more may arrive in this turn
    const all = Array.from({ length: 500 }, () => new FakeConnection());
    for (const each of all) arrivals.join(greedy, each as unknown as Socket, () => undefined);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn(); // 16 begin in each by now, as they bring nothing
    expect(await readAll(all, 5)).toBeGreaterThan(50);
    for (let turn = 0; turn < 20; turn += 1) expect(await readAll(all, 5)).toBeLessThanOrEqual(4);
  });

  /** How many of so many new connections begin at once. */
  function countBegun(arrivals: Arrivals, caller: object, count: number): number {
    let begun = 0;
    const begin = (): void => {
      begun += 1;
    };
    for (let at = 0; at < count; at += 1) {
      arrivals.join(caller, new FakeConnection() as unknown as Socket, begin);
    }
    return begun;
  }
});

it("thousands of connections of a caller, of which some bring too much in each turn, are not all stopped and read again in each", async () => {
  const arrivals = new Arrivals(256);
  const [greedy, other] = [{}, {}];
  const all = Array.from({ length: 3_000 }, () => new FakeConnection());
  for (const each of all) arrivals.join(greedy, each as unknown as Socket, () => undefined);
  const alone = new FakeConnection();
  arrivals.join(other, alone as unknown as Socket, () => undefined);
  const served = new Set<FakeConnection>();
  let turns = 0;
  for (; served.size < all.length; turns += 1) {
    for (const each of all) {
      if (!each._handle.isRead) continue;
      each._handle.bytesRead += 100;
      served.add(each);
      arrivals.count(greedy, 1);
    }
    expect(alone._handle.isRead).toBe(true);
    await nextTurn();
  }
  expect(turns).toBeGreaterThanOrEqual(3_000 / 128);
  const changes = all.reduce((sum, { _handle }) => sum + _handle.changes, 0);
  expect(changes).toBeLessThanOrEqual(3_000 + 2 * 128 * turns); // when all are stopped and started in each turn: 6,000 * turns
});

it("a caller that has filled a turn is not read in the next one, although Node has read on after a write", async () => {
  const arrivals = new Arrivals(256);
  const [greedy, other] = [{}, {}];
  const [one, alone] = [new FakeConnection(), new FakeConnection()];
  arrivals.join(greedy, one as unknown as Socket, () => undefined);
  arrivals.join(other, alone as unknown as Socket, () => undefined);
  arrivals.count(greedy, 256);
  expect([one._handle.isRead, alone._handle.isRead]).toEqual([false, false]);
  one._handle.readStart();
  await nextTurn();
  expect([one._handle.isRead, alone._handle.isRead]).toEqual([false, true]);
  await nextTurn();
  expect([one._handle.isRead, alone._handle.isRead]).toEqual([true, true]);
});

it.each([
  ["a proxy", "a request", true, 0, 256],
  ["another caller", "a request", false, 0, 16],
  ["another caller, in TLS,", "a request", false, 0, 4],
  ["another caller", "16 KiB", false, 16 * 1024, 4],
])(
  "connections of %s that wait and bring %s each begin in few turns, and few in each",
  async (who, _what, isProxy, bytes, most) => {
    const turns = new LoopTurns(() => 0); // the time that this takes does not count
    const arrivals = new Arrivals(256, { turns, isProxy: () => isProxy, mostBegins: 16 });
    const caller = {};
    let begun = 0;
    arrivals.join(caller, new FakeConnection() as unknown as Socket, () => undefined);
    arrivals.count(caller, 256); // nothing more may arrive in this turn
    const encrypted = who.includes("TLS");
    const all = Array.from({ length: 500 }, () => Object.assign(new FakeConnection(), { encrypted }));
    for (const each of all) {
      arrivals.join(caller, each as unknown as Socket, () => {
        begun += 1;
        each._handle.bytesRead += bytes;
        arrivals.count(caller, 1);
      });
    }
    const perTurn: number[] = [];
    while (begun < 500) {
      const before = begun;
      await nextTurn();
      perTurn.push(begun - before);
    }
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(all.filter(({ _handle }) => !_handle.isRead)).toHaveLength(0);
    expect(perTurn.length).toBeLessThan(500 / most + 60);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(most);
  },
);

it("connections of a caller that wait begin for some milliseconds of a turn, when that takes long", async () => {
  let busyMs = 0;
  const arrivals = new Arrivals(256, { turns: new LoopTurns(() => busyMs), mostBegins: 16 });
  const caller = {};
  let begun = 0;
  arrivals.join(caller, new FakeConnection() as unknown as Socket, () => undefined);
  arrivals.count(caller, 256); // nothing more may arrive in this turn
  for (let at = 0; at < 100; at += 1) {
    arrivals.join(caller, new FakeConnection() as unknown as Socket, () => {
      begun += 1;
      busyMs += 2;
    });
  }
  let most = 0;
  for (let before = 0; begun < 100; before = begun) {
    await nextTurn();
    most = Math.max(most, begun - before);
  }
  expect(most).toBe(3);
});

describe("connections that wait to begin", () => {
  it("begin although others of their address bring more in each turn than can be read", async () => {
    const arrivals = new Arrivals(256);
    const address = {};
    arrivals.join(address, new FakeConnection() as unknown as Socket, () => undefined);
    let turns = 0;
    const goOn = (): void => {
      arrivals.count(address, 256); // nothing more may arrive in this turn
      turns += 1;
      if (turns < 1_000) arrivals.waitIfStopped(address, goOn);
    };
    for (let busy = 0; busy < 100; busy += 1) goOn();
    const begun: number[] = [];
    const before = turns;
    for (let at = 0; at < 10; at += 1) {
      arrivals.join(address, new FakeConnection() as unknown as Socket, () => begun.push(turns - before));
    }
    while (begun.length < 10 && turns < 1_000) await nextTurn();
    expect(begun).toHaveLength(10);
    expect(Math.max(...begun)).toBeLessThan(20);
  });

  it("are not read until they begin, and then read on", async () => {
    const arrivals = new Arrivals(256);
    const caller = {};
    arrivals.join(caller, new FakeConnection() as unknown as Socket, () => undefined);
    arrivals.count(caller, 256); // nothing more may arrive in this turn
    const all = Array.from({ length: 20 }, () => new FakeConnection());
    const begun = new Set<FakeConnection>();
    for (const each of all) arrivals.join(caller, each as unknown as Socket, () => void begun.add(each));
    while (begun.size < all.length) {
      for (const each of all) expect(each._handle.isRead).toBe(begun.has(each));
      await nextTurn();
    }
    expect(all.filter(({ _handle }) => !_handle.isRead)).toEqual([]);
  });

  it("stay stopped when they bring so much as they begin that nothing more may arrive, until the next turns", async () => {
    const arrivals = new Arrivals(256);
    const caller = {};
    arrivals.join(caller, new FakeConnection() as unknown as Socket, () => undefined);
    arrivals.count(caller, 256);
    const waiting = new FakeConnection();
    let begun = false;
    arrivals.join(caller, waiting as unknown as Socket, () => {
      begun = true;
      arrivals.count(caller, 256);
    });
    while (!begun) await nextTurn();
    expect(waiting._handle.isRead).toBe(false);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(waiting._handle.isRead).toBe(true);
  });

  const head = "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ";

  it.each([
    ["in cleartext", undefined, `${head}${2 ** 20}\r\n\r\n`],
    ["for TLS", { tls: certificate }, Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0])],
  ])("have brought one packet at most, %s", async (_, options, start) => {
    const { served, handler } = createServed();
    await using listener = await listen(handler, options);
    using opened = new DisposableStack();
    const accepted: Socket[] = [];
    const accept = (message: unknown): void => void accepted.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", accept);
    opened.defer(() => void unsubscribe("net.server.socket", accept));
    const packet = Buffer.concat([Buffer.from(start), new Uint8Array(2 ** 18)]);
    const all = Array.from({ length: 300 }, async () => {
      const connection = opened.use(await openRawConnection(listener.port));
      void connection.write(packet);
      if (options !== undefined) await connection.closed(); // it is no TLS
    });
    let most = 0;
    const over = Promise.all([...all, ...(options === undefined ? [served(all.length)] : [])]);
    let isOver = false;
    void over.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const socket of accepted) if (!("parser" in socket)) most = Math.max(most, socket.readableLength);
      await nextTurn();
    }
    await over;
    expect(most).toBeLessThanOrEqual(64 * 1024);
  });

  it.each([
    ["in cleartext, also when the other side is closed", undefined],
    ["over TLS", { tls: certificate }],
  ])("are read to their end, %s", async (_, options) => {
    await using listener = await listen(
      async ({ body }) => {
        let length = 0;
        for await (const piece of body) length += piece.length;
        return { status: 200, body: `${length} bytes` };
      },
      { ...options, halfCloseTimeoutMs: 60_000 },
    );
    const request = Buffer.concat([Buffer.from(`${head}200000\r\n\r\n`), new Uint8Array(200_000)]);
    const secure = options && { ca: certificate.cert, ALPNProtocols: ["http/1.1"] };
    const send = async (): Promise<string> => {
      using connection = await openRawConnection(listener.port, secure);
      if (options === undefined) connection.socket.end(request);
      else void connection.write(request);
      return await connection.closed();
    };
    for (const answer of await Promise.all(Array.from({ length: 200 }, send))) {
      expect(answer).toContain("200000 bytes");
    }
  });
});

describe("a caller whose work has made a turn very long", () => {
  function createPort(options: ArrivalsOptions = {}) {
    let busyMs = 0;
    const turns = new LoopTurns(() => busyMs);
    const later: { readonly task: () => void; readonly delayMs: number }[] = [];
    const arrivals = new Arrivals(10, {
      ...options,
      turns,
      later: (task, delayMs) => void later.push({ task, delayMs }),
    });
    const join = (caller: object): FakeConnection & { hasBegun?: boolean } => {
      const connection: FakeConnection & { hasBegun?: boolean } = new FakeConnection();
      arrivals.join(caller, connection as unknown as Socket, () => {
        connection.hasBegun = true;
      });
      return connection;
    };
    return { arrivals, join, later, turns, work: (ms: number) => (busyMs += ms) };
  }

  it("rests for as long, with all its connections, while others go on", async () => {
    const { arrivals, join, later, work } = createPort();
    const [greedy, other] = [{}, {}];
    const [one, two, alone] = [join(greedy), join(greedy), join(other)];
    work(500);
    arrivals.attributeTurn(greedy);
    const three = join(greedy);
    for (let turn = 0; turn < 100; turn += 1) {
      expect([one, two, alone].map(({ _handle }) => _handle.isRead)).toEqual([false, false, true]);
      expect(three.hasBegun).toBe(undefined);
      await nextTurn();
    }
    expect(later.map(({ delayMs }) => delayMs)).toEqual([500]);
    later[0]?.task();
    await nextTurn();
    expect(one._handle.isRead && two._handle.isRead && three.hasBegun).toBe(true);
  });

  it("rests also when it comes with new connections", async () => {
    const { arrivals, join, later, work } = createPort();
    const greedy = {};
    const first = join(greedy);
    work(500);
    arrivals.attributeTurn(greedy);
    first.emit("close");
    expect(join(greedy).hasBegun).toBe(undefined);
    expect(later).toHaveLength(1);
  });

  it("has a connection begin at once that closes while it waits, so that code which waits for it is told", async () => {
    const { arrivals, join, later, work } = createPort();
    const greedy = {};
    const first = join(greedy);
    work(500);
    arrivals.attributeTurn(greedy);
    const second = join(greedy);
    first.emit("close");
    expect(second.hasBegun).toBe(undefined);
    second.emit("close");
    expect(second.hasBegun).toBe(true);
    later[0]?.task();
    await nextTurn();
    expect(join(greedy).hasBegun).toBe(true);
  });

  it("rests for nothing that the event loop did before it came", () => {
    const { arrivals, join, later, work } = createPort();
    const caller = {};
    work(500);
    join(caller);
    arrivals.attributeTurn(caller);
    expect(later).toEqual([]);
  });

  it("rests for nothing that others have done", async () => {
    const { arrivals, join, work } = createPort();
    const [greedy, other] = [{}, {}];
    join(greedy);
    const alone = join(other);
    work(500);
    arrivals.attributeTurn(greedy);
    work(1);
    arrivals.attributeTurn(other);
    await nextTurn();
    expect(alone._handle.isRead).toBe(true);
  });

  it("is one of whose connections one is read in a turn, and rests after what that one has brought", async () => {
    const { join, later, turns, work } = createPort({ isOneAtATime: true });
    const caller = {};
    const all = Array.from({ length: 20 }, () => join(caller));
    const other = join({});
    const read = () => all.filter(({ _handle, hasBegun }) => hasBegun && _handle.isRead);
    while (!all.every(({ hasBegun }) => hasBegun)) {
      await nextTurn();
      expect(read().length).toBeLessThanOrEqual(2); // with the one that has begun
    }
    const isAtWork = () => turns.watch(() => {}).hasRef();
    const seen = new Set<unknown>();
    for (let turn = 0; turn < 100; turn += 1) {
      await nextTurn();
      const [one, ...more] = read();
      if (one === undefined || more.length > 0) continue;
      seen.add(one);
      expect(isAtWork()).toBe(false); // they bring nothing, and do not keep the event loop at work
      expect(later.map(({ delayMs }) => delayMs)).toEqual([1]);
      later.shift()?.task();
      expect(isAtWork()).toBe(true); // also where nothing else happens
    }
    expect(seen.size).toBe(all.length);
    later.length = 0;
    const [one] = read();
    if (one !== undefined) one._handle.bytesRead += 1;
    work(500);
    await nextTurn();
    expect(later.map(({ delayMs }) => delayMs)).toEqual([500]);
    expect(read()).toEqual([]);
    expect(other._handle.isRead).toBe(true);
    later[0]?.task();
    await nextTurn();
    expect(read()).toHaveLength(1);
  });
});

it("short turns that each bring a connection leave most turns to new connections, however little each connection costs", async () => {
  let busyMs = 0;
  const turns = new LoopTurns(() => busyMs);
  let accepting = 0;
  for (let turn = 0; turn < 300; turn += 1) {
    turns.countConnection();
    busyMs += turns.isAccepting ? 0.1 : 1;
    if (turns.isAccepting) accepting += 1;
    await nextTurn();
  }
  expect(accepting).toBeGreaterThan(200);
});

it("nothing is read in turns for new connections, of any port or to servers of webhooks", async () => {
  let busyMs = 0;
  const turns = new LoopTurns(() => busyMs);
  const connections = [new FakeConnection(), new FakeConnection()];
  for (const each of connections) {
    new Arrivals(256, { turns }).join("alice", each as unknown as Socket, () => undefined);
  }
  const read = { accepting: 0, other: 0 };
  for (let turn = 0; turn < 300; turn += 1) {
    turns.countConnection();
    busyMs += turns.isAccepting ? 0.1 : 4;
    for (const { _handle } of connections) {
      if (_handle.isRead) read[turns.isAccepting ? "accepting" : "other"] += 1;
    }
    await nextTurn();
  }
  expect(read.accepting).toBe(0);
  expect(read.other).toBeGreaterThan(2);
});

/** A connection as `Arrivals` sees it. */
class FakeConnection extends EventEmitter {
  readonly _handle = {
    bytesRead: 0,
    isRead: true,
    /** How often it was stopped and started. */
    changes: 0,
    readStart(): void {
      if (!this.isRead) this.changes += 1;
      this.isRead = true;
    },
    readStop(): void {
      if (this.isRead) this.changes += 1;
      this.isRead = false;
    },
  };
}

/** A handler that counts the pieces of bodies, and when it has counted so many. */
function countPieces(wanted: number) {
  const arrivals = createTurnCount();
  const { promise, resolve } = Promise.withResolvers<void>();
  const handler: HttpHandler = async ({ body }) => {
    for await (const bytes of body) {
      for (const _ of bytes) arrivals.count(); // each piece has one
      if (arrivals.total === wanted) resolve();
    }
    return { status: 200 };
  };
  return { arrivals, handler, all: promise };
}

/** A listener, and connections that have begun requests with a body. */
async function openFlood(head: Buffer) {
  const arrivals = createTurnCount();
  const { served, handler } = createServed();
  const piecesCame = Promise.withResolvers<void>();
  const listener = await listen(async ({ method, body }) => {
    if (method === "GET") return { status: 200 };
    await handler();
    for await (const bytes of body) {
      for (const _ of bytes) arrivals.count(); // each piece has one
      if (arrivals.total === connections * pieces) piecesCame.resolve();
    }
    return { status: 200 };
  });
  const open = async () => {
    const connection = await openRawConnection(listener.port);
    await connection.write(head);
    return connection;
  };
  const all = await Promise.all(Array.from({ length: connections }, open));
  await served(connections);
  return {
    arrivals,
    port: listener.port,
    async send(piece: Buffer): Promise<void> {
      const packet = Buffer.concat(Array.from({ length: pieces }, () => piece));
      for (const connection of all) void connection.write(packet);
      await piecesCame.promise;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const { socket } of all) socket.destroy();
      await listener.close();
    },
  };
}

/** `POST /` on stream 1, whose body follows. */
function requestWithBody(): Buffer {
  const frame = requestFrame(1);
  frame.writeUInt8(0x4, 4); // END_HEADERS
  frame.writeUInt8(0x83, 9); // :method POST
  return frame;
}

/** A handler, and when it has been called so many times. */
function createServed() {
  let count = 0;
  const progress = new EventEmitter();
  return {
    handler: async () => {
      count += 1;
      progress.emit("served");
      return { status: 200 };
    },
    served: async (wanted: number): Promise<void> => {
      while (count < wanted) await once(progress, "served");
    },
  };
}

function countArrivals(channel: string) {
  const arrivals = createTurnCount();
  subscribe(channel, arrivals.count);
  return Object.assign(arrivals, {
    [Symbol.dispose]: () => void unsubscribe(channel, arrivals.count),
  });
}
