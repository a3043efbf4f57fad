import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpHandler } from "@a2a-connect/bindings";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { aborted, createGate } from "../../test-support/handlers.ts";
import { fakeIntervals } from "../../test-support/intervals.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { silenceResponses } from "../../test-support/silent-responses.ts";
import { countUnanswered } from "../../test-support/unanswered.ts";
import { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "../node-handler.ts";

function mounted(handle: HttpHandler, options: NodeHandlerOptions = {}): NodeHandler {
  const stopped = new AbortController().signal;
  return toNodeHandler({ isGated: true, log: () => {}, start: async () => {}, stopped, handle }, options);
}

/** @returns its port */
async function listenWith(listener: RequestListener, tls?: { cert: string; key: string }): Promise<number> {
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  onTestFinished(() => server.close().closeAllConnections());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port; // it listens on TCP
}

const get = (path: string | number): string => `GET /${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

function pipelined(count: number): string {
  return Array.from({ length: count }, (_, at) => get(at)).join("");
}

const connectRequest = "CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example\r\n\r\n";

const answerPath: HttpHandler = async ({ url }) => ({
  status: 200,
  body: `answer to ${new URL(url).pathname};`,
});

function answered(received: string): string[] {
  return [...received.matchAll(/answer to \/([^;]*);/g)].map(([, path = ""]) => path);
}

describe("requests of one connection, at a mount", () => {
  it.each([
    ["in cleartext", undefined],
    ["over TLS", createSelfSignedCertificate()],
  ])("are not read while others wait, %s", async (_, tls) => {
    const last = createGate();
    const port = await listenWith(
      mounted(async ({ url }) => {
        if (url.endsWith("/last")) last.open();
        return { status: 200, body: "answer" };
      }),
      tls,
    );
    const most = countUnanswered(last.opened);
    using connection = await openRawConnection(port, tls && { ca: tls.cert });
    const packet = get("").repeat(1_000);
    for (let at = 0; at < 20; at += 1) void connection.write(packet);
    await connection.write(get("last"));
    expect(await most).toBeLessThan(6_000); // a packet has some 64 KiB, or twice as much on loopback
  });

  it("are answered in order, also beside those of other mounts and routes", async () => {
    const [one, two] = [mounted(answerPath), mounted(answerPath)];
    const port = await listenWith((message, response) => {
      const path = message.url ?? "";
      if (path.endsWith("0")) response.end(`answer to ${path};`);
      else if (path.endsWith("1")) one(message, response);
      else two(message, response);
    });
    using connection = await openRawConnection(port);
    await connection.write(pipelined(3_000));
    const received = await connection.until("answer to /2999;");
    expect(answered(received)).toEqual(Array.from({ length: 3_000 }, (_, at) => String(at)));
  });

  it("get their bodies, also when these come later than all that waits", async () => {
    const gate = createGate();
    const port = await listenWith(
      mounted(async ({ method, body }) => {
        await gate.opened;
        if (method === "GET") return { status: 200, body: "answer" };
        return { status: 200, body: `${(await body.bytes?.(300_000))?.length} bytes` };
      }),
    );
    using connection = await openRawConnection(port);
    await connection.write(
      `${pipelined(20)}POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 200000\r\n\r\n`,
    );
    void connection.write(new Uint8Array(200_000));
    gate.open();
    await connection.until("200000 bytes");
  });

  it("take places that all mounts share, and their connection is closed when there are none", async () => {
    const gate = createGate();
    const wait: HttpHandler = async (request) => {
      await gate.opened;
      return answerPath(request);
    };
    const limits = { maxStreams: 80 };
    const ports = [await listenWith(mounted(wait, limits)), await listenWith(mounted(wait, limits))] as const;
    const send = async (at: 0 | 1, count: number) => {
      const connection = await openRawConnection(ports[at]);
      await connection.write(pipelined(count));
      return connection;
    };
    using first = await send(0, 50); // 70 are 7/8 of 80
    for (const at of [0, 1] as const) {
      using cut = await send(at, 50);
      expect(await cut.closed()).toBe("");
    }
    using fits = await send(1, 20);
    gate.open();
    await first.until("answer to /49;");
    await fits.until("answer to /19;");
    using next = await send(1, 70); // all places are free again
    await next.until("answer to /69;");
  });

  it("take places for large URLs, also for what a framework removes, and are refused when there are none", async () => {
    const gate = createGate();
    let begun = 0;
    const wait: HttpHandler = async (request) => {
      begun += 1;
      await gate.opened;
      return answerPath(request);
    };
    const handler = mounted(wait, { maxStreams: 40 });
    const port = await listenWith((message, response) => {
      const { url = "" } = message;
      handler(Object.assign(message, { originalUrl: url, url: url.slice(url.lastIndexOf("/")) }), response);
    });
    const send = async (text: string) => {
      const connection = await openRawConnection(port);
      await connection.write(text);
      return connection;
    };
    const long = "x".repeat(14_000); // four places, of which the first request of a connection has one
    using opened = new DisposableStack();
    const fit = [];
    for (let at = 0; at < 11; at += 1) fit.push(opened.use(await send(get(`${long}/${at}`)))); // 35 are 7/8 of 40
    while (begun < 11) await nextTurn();
    using refused = await send(get(`${long}/refused`));
    expect(await refused.until("RESOURCE_EXHAUSTED")).toMatch(/^HTTP\/1\.1 429 /);
    gate.open();
    for (const [at, connection] of fit.entries()) await connection.until(`answer to /${at};`);
    await refused.write(get(`${long}/next`)); // its connection is open, and the places are free again
    await refused.until("answer to /next;");
  });

  it("end when their caller has gone while others wait", async () => {
    using clock = fakeIntervals();
    const gone = createGate();
    const port = await listenWith(
      mounted(async ({ url, signal }) => {
        if (url.endsWith("/0")) await aborted(signal).then(gone.open);
        return { status: 200, body: "answer" };
      }),
    );
    {
      using connection = await openRawConnection(port);
      await connection.write(pipelined(20));
    }
    await clock.passUntil(gone.opened);
  });

  it.each([
    ["the other server cuts their connection for a tunnel", connectRequest, () => {}],
    ["the other server cuts their connection for a tunnel, with Node 22", connectRequest, silenceResponses],
    ["their caller goes", undefined, () => {}],
    ["their caller goes, with Node 22", undefined, silenceResponses],
  ])("end when %s, also those whose answers wait", async (_, bytes, prepare) => {
    prepare();
    const ready = createGate();
    const handler = mounted(async (request) => {
      const { url, signal } = request;
      if (url.endsWith("/0")) await aborted(signal);
      if (url.endsWith("/7")) ready.open();
      return answerPath(request);
    });
    const ended: Promise<unknown>[] = [];
    const port = await listenWith((message, response) => {
      ended.push(once(response, "close"));
      handler(message, response);
    });
    using connection = await openRawConnection(port);
    await connection.write(pipelined(8));
    await ready.opened;
    if (bytes === undefined) connection.socket.destroy();
    else await connection.write(bytes);
    await connection.closed();
    await Promise.all(ended);
    expect(ended).toHaveLength(8);
  });

  it("take no places when they come from a framework after their connection was closed", async () => {
    const gate = createGate();
    let arrived = 0;
    const handler = mounted(answerPath, { maxStreams: 24 });
    const port = await listenWith(async (message, response) => {
      arrived += 1;
      await gate.opened;
      handler(message, response);
    });
    {
      using connection = await openRawConnection(port);
      const server = once(connection.socket, "close");
      await connection.write(pipelined(20));
      while (arrived < 20) await nextTurn();
      connection.socket.destroy();
      await server;
    }
    for (let turn = 0; turn < 10; turn += 1) await nextTurn(); // the server learns it
    gate.open();
    using next = await openRawConnection(port);
    await next.write(pipelined(20));
    await next.until("answer to /19;");
  });
});
