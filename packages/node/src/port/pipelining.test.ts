import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { aborted, createGate } from "../../test-support/handlers.ts";
import { fakeIntervals } from "../../test-support/intervals.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { silenceResponses } from "../../test-support/silent-responses.ts";
import { countUnanswered } from "../../test-support/unanswered.ts";
import { listen } from "./listen.ts";

const requests = 1_000;

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

function pipelined(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, at) => get(`/${from + at}`)).join("");
}

it("a few of the requests that are pipelined are served at a time, and others in between", async () => {
  const gate = createGate();
  let running = 0;
  let most = 0;
  let served = 0;
  await using listener = await listen(async ({ url }) => {
    if (url.endsWith("/other")) return { status: 200, body: `after ${served}` };
    most = Math.max(most, ++running);
    await gate.opened;
    running -= 1;
    served += 1;
    return { status: 200, body: `answer to ${new URL(url).pathname};` };
  });
  using connection = await openRawConnection(listener.port);
  await connection.write(pipelined(0, requests));
  expect(await (await fetch(`${listener.url}/other`)).text()).toBe("after 0");
  gate.open();
  await connection.until("answer to /0;");
  const other = await (await fetch(`${listener.url}/other`)).text();
  expect(Number(other.replace("after ", ""))).toBeLessThan(requests);
  const received = await connection.until(`answer to /${requests - 1};`);
  const answered = [...received.matchAll(/answer to \/(\d+);/g)].map(([, at]) => Number(at));
  expect(answered).toEqual(Array.from({ length: requests }, (_, at) => at));
  expect(most).toBe(8);
});

it("requests that wait behind others are not begun once their caller has gone", async () => {
  const gate = createGate();
  const begun: string[] = [];
  await using listener = await listen(async ({ url, signal }) => {
    begun.push(new URL(url).pathname);
    if (!url.endsWith("/other")) {
      if (begun.length === 8) gate.open();
      await aborted(signal);
    }
    return { status: 200, body: "answer" };
  });
  {
    using connection = await openRawConnection(listener.port);
    await connection.write(pipelined(0, 20));
    await gate.opened;
  }
  expect((await fetch(`${listener.url}/other`)).status).toBe(200);
  expect(begun).toEqual([..."01234567"].map((at) => `/${at}`).concat("/other"));
});

it.each([
  ["the caller resets it", () => {}],
  ["the caller resets it, with Node 22", silenceResponses],
])("answers that wait behind others are closed with their connection: %s", async (_, prepare) => {
  prepare();
  const ready = createGate();
  const closed: Promise<unknown>[] = [];
  const begin = (event: unknown): void => {
    closed.push(once((event as { response: ServerResponse }).response, "close")); // what Node documents for this channel
  };
  subscribe("http.server.request.start", begin);
  using _subscribed = { [Symbol.dispose]: () => void unsubscribe("http.server.request.start", begin) };
  await using listener = await listen(async ({ url, signal }) => {
    if (url.endsWith("/0")) await aborted(signal);
    if (url.endsWith("/7")) ready.open();
    return { status: 200, body: "answer" };
  });
  using connection = await openRawConnection(listener.port);
  await connection.write(pipelined(0, 8));
  await ready.opened;
  connection.socket.resetAndDestroy();
  await Promise.all(closed);
  expect(closed).toHaveLength(8);
});

it.each(["", "expect: the unexpected\r\n"])(
  "requests are not read while others of their connection wait, with fields %j",
  async (fields) => {
    const last = createGate();
    const counted = createGate();
    await using listener = await listen(async ({ url }) => {
      if (url.endsWith("/last")) last.open();
      return { status: 200, body: "answer" };
    });
    const arrived = countUnanswered(counted.opened);
    using connection = await openRawConnection(listener.port);
    const packet = `GET / HTTP/1.1\r\nhost: localhost\r\n${fields}\r\n`.repeat(1_000);
    for (let at = 0; at < 40; at += 1) await connection.write(packet);
    await connection.write("GET /last HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await last.opened;
    counted.open();
    expect(await arrived).toBeLessThan(6_000); // a packet has some 64 KiB, or twice as much on loopback
  },
);

it("requests that are sent before earlier ones are answered take places, and their connection is closed when there are none", async () => {
  const gate = createGate();
  await using listener = await listen(
    async ({ url }) => {
      await gate.opened;
      return { status: 200, body: `answer to ${new URL(url).pathname};` };
    },
    { maxStreams: 80 },
  );
  const send = async (count: number) => {
    const connection = await openRawConnection(listener.port);
    await connection.write(pipelined(0, count));
    return connection;
  };
  using first = await send(50); // 70 are 7/8 of 80
  for (let at = 0; at < 3; at += 1) {
    using cut = await send(50);
    expect(await cut.closed()).toBe("");
  }
  using fits = await send(20);
  gate.open();
  await first.until("answer to /49;");
  await fits.until("answer to /19;");
  using next = await send(70); // all places are free again
  await next.until("answer to /69;");
});

describe("the header of a connection's first request", () => {
  // Each field adds 32 bytes, so these take 9 places besides that of the connection.
  const fields = Array.from({ length: 960 }, (_, at) => `a${at.toString(36)}: some\r\n`).join("");

  async function openSlow() {
    const gate = createGate();
    const listener = await listen(
      async ({ url }) => {
        await gate.opened;
        return { status: 200, body: `answer to ${new URL(url).pathname};` };
      },
      { maxStreams: 80, trustedProxies: ["127.0.0.1"] },
    );
    const ask = async (path: string, header: string) => {
      const connection = await openRawConnection(listener.port);
      await connection.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${header}\r\n`);
      return connection;
    };
    return { gate, ask, [Symbol.asyncDispose]: () => listener.close() };
  }

  it.each(["", "x-forwarded-for: 192.0.2.1\r\n"])(
    "takes places when it is large, and is refused when there are none, with fields %j",
    async (forwarded) => {
      await using server = await openSlow();
      using opened = new DisposableStack();
      const ask = async (path: string, header: string) =>
        opened.use(await server.ask(path, header + forwarded));
      const fit = await Promise.all(Array.from({ length: 7 }, (_, at) => ask(`/${at}`, fields))); // 70 are 7/8 of 80
      const refused = await (await ask("/refused", fields)).closed();
      expect(refused).toMatch(/^HTTP\/1\.1 429 .*connection: close\r\n.*RESOURCE_EXHAUSTED/s);
      const small = await ask("/small", "");
      const other = opened.use(await server.ask("/other", `x-forwarded-for: 192.0.2.2\r\n${fields}`));
      server.gate.open();
      for (const [at, connection] of fit.entries()) await connection.until(`answer to /${at};`);
      await small.until("answer to /small;");
      await other.until("answer to /other;");
      await (await ask("/next", fields)).until("answer to /next;"); // the places are free again
    },
  );

  it("keeps its places after the answer, until all of its body has come", async () => {
    await using server = await openSlow();
    server.gate.open();
    using opened = new DisposableStack();
    const ask = async (path: string, header: string) => opened.use(await server.ask(path, fields + header));
    const partial = await Promise.all(
      Array.from({ length: 7 }, (_, at) => ask(`/${at}`, "content-length: 1\r\n")),
    );
    for (const [at, connection] of partial.entries()) await connection.until(`answer to /${at};`);
    expect(await (await ask("/refused", "")).closed()).toContain("HTTP/1.1 429 ");
    await partial[0]?.write("xGET /after HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await partial[0]?.until("answer to /after;");
    await (await ask("/next", "")).until("answer to /next;");
  });

  it("is refused with what comes after it", async () => {
    await using server = await openSlow();
    using opened = new DisposableStack();
    for (let at = 0; at < 7; at += 1) opened.use(await server.ask(`/${at}`, fields));
    const refused = opened.use(
      await server.ask("/refused", `${fields}\r\nGET /next HTTP/1.1\r\nhost: localhost\r\n`),
    );
    expect(await refused.closed()).toBe("");
    server.gate.open();
  });
});

describe("a URL of 32 KB", () => {
  const query = "x".repeat(32_000); // eight places, of which the first request of a connection has one
  const ask = (path: string): string => `GET /${path}?${query} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

  async function openSlow() {
    const gate = createGate();
    let begun = 0;
    const listener = await listen(
      async ({ url }) => {
        begun += 1;
        await gate.opened;
        return { status: 200, body: `answer to ${new URL(url).pathname};` };
      },
      { maxStreams: 80 },
    );
    const send = async (text: string) => {
      const connection = await openRawConnection(listener.port);
      await connection.write(text);
      return connection;
    };
    const until = async (count: number) => {
      while (begun < count) await nextTurn();
    };
    return { gate, send, until, [Symbol.asyncDispose]: () => listener.close() };
  }

  it("takes places as a header does, and is refused when there are none", async () => {
    await using server = await openSlow();
    using opened = new DisposableStack();
    const send = async (text: string) => opened.use(await server.send(text));
    const fit = await Promise.all(Array.from({ length: 10 }, (_, at) => send(ask(`${at}`)))); // 70 are 7/8 of 80
    await server.until(10);
    const refused = await (await send(ask("refused"))).closed();
    expect(refused).toMatch(/^HTTP\/1\.1 429 .*connection: close\r\n.*RESOURCE_EXHAUSTED/s);
    server.gate.open();
    for (const [at, connection] of fit.entries()) await connection.until(`answer to /${at};`);
    await (await send(ask("next"))).until("answer to /next;"); // the places are free again
  });

  it("takes places when requests are pipelined, and their connection is closed when there are none", async () => {
    await using server = await openSlow();
    const pipeline = (count: number): string =>
      Array.from({ length: count }, (_, at) => ask(`${at}`)).join("");
    using cut = await server.send(pipeline(9)); // 7 and 8 times 8
    expect(await cut.closed()).toBe("");
    using fits = await server.send(pipeline(8));
    server.gate.open();
    await fits.until("answer to /7;");
  });
});

it("the trailers of a request are not kept until it is answered", async () => {
  const counts: number[] = [];
  let message: IncomingMessage | undefined;
  const see = (event: unknown): void => {
    message = (event as { request: IncomingMessage }).request; // what Node documents for this channel
  };
  subscribe("http.server.request.start", see);
  using _ = { [Symbol.dispose]: () => void unsubscribe("http.server.request.start", see) };
  await using listener = await listen(async ({ body }) => {
    for await (const _ of body);
    await nextTurn();
    counts.push(message?.rawTrailers.length ?? -1);
    return { status: 200, body: "answer" };
  });
  using connection = await openRawConnection(listener.port);
  await connection.write(
    "POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\na: b\r\n\r\n",
  );
  await connection.until("answer");
  expect(counts).toEqual([0]);
});

it("pipelined requests with bodies whose answers are large are all answered, one after the other", async () => {
  await using listener = await listen(async ({ body }) => {
    for await (const _piece of body) {
      // it is read to its end
    }
    return { status: 200, body: "a".repeat(100_000) };
  });
  using connection = await openRawConnection(listener.port);
  const size = 60_000; // a few slices
  const ask = (fields: string) =>
    `POST / HTTP/1.1\r\nhost: a\r\n${fields}content-length: ${size}\r\n\r\n${"b".repeat(size)}`;
  connection.socket.on("data", () => {
    connection.socket.pause(); // answers wait, and Node stops reading
    setImmediate(() => connection.socket.resume());
  });
  void connection.write(ask("").repeat(99) + ask("connection: close\r\n"));
  const answers = (await connection.closed()).split("HTTP/1.1 200 OK").slice(1);
  expect(answers.map((answer) => answer.length > 100_000)).toEqual(Array(100).fill(true));
});

it("a pipelined request that expects 100 Continue gets it before its answer, and those behind it are answered", async () => {
  const gate = createGate();
  const ready = createGate();
  await using listener = await listen(async ({ url, body }) => {
    const { pathname } = new URL(url);
    if (pathname === "/slow") await gate.opened;
    if (pathname === "/read") await text(body as AsyncIterable<Uint8Array>);
    if (pathname === "/after") ready.open(); // and so is the answer before it
    return { status: 200, body: Buffer.from(`answer to ${pathname};`) };
  });
  using connection = await openRawConnection(listener.port);
  const ask = (path: string, fields = "") =>
    `POST ${path} HTTP/1.1\r\nhost: a\r\n${fields}content-length: 2\r\n\r\n`;
  const expect100 = "expect: 100-continue\r\n";
  await connection.write(`${ask("/slow")}{}${ask("/ready", expect100)}{}${ask("/after")}{}`);
  await ready.opened;
  await nextTurn();
  gate.open();
  await connection.until("answer to /after;");
  await connection.write(ask("/read", expect100));
  await connection.until("answer to /after;HTTP/1.1 100 Continue");
  await connection.write("{}");
  const received = await connection.until("answer to /read;");
  const answers = received.replaceAll(/^(?!HTTP|answer).*\r\n/gm, "").split(/(?=HTTP)/);
  expect(answers.map((answer) => answer.replace("\r\n", " "))).toEqual([
    "HTTP/1.1 200 OK answer to /slow;",
    "HTTP/1.1 100 Continue ",
    "HTTP/1.1 200 OK answer to /ready;",
    "HTTP/1.1 200 OK answer to /after;",
    "HTTP/1.1 100 Continue ",
    "HTTP/1.1 200 OK answer to /read;",
  ]);
});

describe("a connection that has many requests waiting, and the unfinished body of the last", () => {
  const unfinished = `POST /last HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n${"x".repeat(80_000)}`;

  async function open() {
    const gate = createGate();
    const gone = createGate();
    const listener = await listen(
      async ({ url, signal }) => {
        const { pathname } = new URL(url);
        if (pathname === "/slow") await gate.opened;
        if (pathname === "/never") await aborted(signal).then(gone.open);
        const header = new Headers(pathname === "/closes" ? { connection: "close" } : {});
        return { status: 200, header, body: Buffer.from(`answer to ${pathname};`) };
      },
      { maxStreams: 80 },
    );
    const send = async (first: string) => {
      const connection = await openRawConnection(listener.port);
      await connection.write(first + pipelined(0, 14) + unfinished);
      return connection;
    };
    /** All places are free. */
    const expectFree = async () => {
      using next = await openRawConnection(listener.port);
      await next.write(pipelined(0, 70)); // 70 are 7/8 of 80
      await next.until("answer to /69;");
    };
    return { gate, gone, send, expectFree, [Symbol.asyncDispose]: () => listener.close() };
  }

  it("is closed after an answer that closes it", async () => {
    await using server = await open();
    using connection = await server.send(`${get("/slow")}${get("/closes")}`);
    server.gate.open();
    expect(await connection.closed()).toMatch(/answer to \/closes;$/);
    await server.expectFree();
  });

  it("is cut when nothing is read and written for minutes, because its caller may have gone", async () => {
    using clock = fakeIntervals();
    await using server = await open();
    const connection = await server.send(get("/never"));
    connection.socket.destroy();
    await clock.passUntil(server.gone.opened);
    await server.expectFree();
  });
});

describe("what comes in one packet with a request that asks for another protocol", () => {
  const upgrade = "connection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABk\r\nupgrade: h2c\r\n";
  const post = (path: string, body: string, fields = "") =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
  const hidden = get("/hidden");
  const last = post("/last", hidden, "connection: close\r\n");

  it.each([
    [
      "whole requests",
      [post("/first", "", upgrade) + get("/second") + post("/third", "body", upgrade) + last],
    ],
    [
      "the head of the next request",
      [post("/first", "body", upgrade) + last.slice(0, -hidden.length), hidden],
    ],
    ["the beginning of that head", [post("/first", "body", upgrade) + last.slice(0, 20), last.slice(20)]],
  ])("is read as it is meant: %s", async (_, packets) => {
    const begun: string[] = [];
    await using listener = await listen(async ({ url, body }) => {
      begun.push(new URL(url).pathname);
      let length = 0;
      for await (const piece of body) length += piece.length;
      return { status: 200, body: `${new URL(url).pathname} had ${length} bytes;` };
    });
    using connection = await openRawConnection(listener.port);
    for (const packet of packets) {
      await connection.write(packet);
      if (packet !== packets.at(-1)) await connection.until("/first had");
    }
    const received = await connection.closed();
    expect(received).toContain(`/last had ${hidden.length} bytes;`);
    const paths = [...received.matchAll(/(\/\w+) had/g)].map(([, path]) => path);
    expect(paths).toEqual(begun);
    expect(begun).not.toContain("/hidden");
  });
});
