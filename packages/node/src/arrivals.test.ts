import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { openSilentHttp2, requestFrame } from "../test-support/http2-frames.ts";
import { openRawConnection, type RawConnection } from "../test-support/raw-connection.ts";
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
  readonly begin: (connection: RawConnection) => Promise<void>;
  readonly formatRequest: (at: number) => string | Buffer;
}

const floods: readonly Flood[] = [
  {
    version: "HTTP/1.1",
    alpn: "http/1.1",
    channel: "http.server.request.start",
    begin: async () => undefined,
    formatRequest: () => "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
  },
  {
    version: "HTTP/2",
    alpn: "h2",
    channel: "http2.server.stream.created",
    begin: openSilentHttp2,
    formatRequest: (at) => requestFrame(2 * at + 1),
  },
];

it.each(
  floods.flatMap((flood) => [
    { ...flood, tls: false },
    { ...flood, tls: true },
  ]),
)(
  "in a turn of the event loop few requests arrive, of any number of $version connections (TLS: $tls)",
  async ({ channel, begin, formatRequest, alpn, tls }) => {
    let served = 0;
    const progress = new EventEmitter();
    const untilServed = async (count: number): Promise<void> => {
      while (served < count) await once(progress, "served");
    };
    const handler = async () => {
      served += 1;
      progress.emit("served");
      return { status: 200 };
    };
    await using listener = await listen(handler, tls ? { tls: certificate } : {});
    const secure = tls ? { ca: certificate.cert, ALPNProtocols: [alpn] } : undefined;
    using opened = new DisposableStack();
    const open = async (): Promise<RawConnection> => {
      const connection = opened.use(await openRawConnection(listener.port, secure));
      await begin(connection);
      await connection.write(formatRequest(0));
      return connection;
    };
    const all = await Promise.all(Array.from({ length: connections }, open));
    await untilServed(connections); // from here on all of them are read
    using arrivals = countArrivals(channel);
    const packet = Buffer.concat(
      Array.from({ length: requests }, (_, at) => Buffer.from(formatRequest(1 + at))),
    );
    for (const connection of all) void connection.write(packet);
    await untilServed(connections * (1 + requests));
    expect(arrivals.total).toBe(connections * requests);
    expect(arrivals.mostInATurn).toBeLessThanOrEqual(128 + requests);
  },
);

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
