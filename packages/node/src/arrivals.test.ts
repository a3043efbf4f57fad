import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { formatFrame, frameTypes, requestFrame } from "../test-support/http2-frames.ts";
import { openRawConnection } from "../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

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
    preface: Buffer.concat([
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      formatFrame({ type: frameTypes.settings, flags: 0, streamId: 0, payload: Buffer.alloc(0) }),
    ]),
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
  let inTurn = 0;
  const arrivals = { total: 0, mostInATurn: 0, [Symbol.dispose]: () => void unsubscribe(channel, count) };
  function count(): void {
    if (inTurn === 0) {
      setImmediate(() => {
        inTurn = 0;
      });
    }
    inTurn += 1;
    arrivals.total += 1;
    arrivals.mostInATurn = Math.max(arrivals.mostInATurn, inTurn);
  }
  subscribe(channel, count);
  return arrivals;
}
