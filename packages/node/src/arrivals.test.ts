import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { expect, it } from "vitest";
import { frameTypes, openSilentHttp2, parseFrames, requestFrame } from "../test-support/http2-frames.ts";
import { openRawConnection, type RawConnection } from "../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

const connections = 40;
const requests = 200;

/** A version of HTTP, whose connections bring their requests in one packet each. */
interface Flood {
  readonly version: string;
  /** Where Node tells of each request that it has made an object of. */
  readonly channel: string;
  readonly begin: (connection: RawConnection) => Promise<void>;
  readonly formatRequest: (at: number) => string | Buffer;
  readonly countAnswers: (received: string) => number;
}

const floods: readonly Flood[] = [
  {
    version: "HTTP/1.1",
    channel: "http.server.request.start",
    begin: async () => undefined,
    formatRequest: () => "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
    countAnswers: (received) => received.split("HTTP/1.1 200").length - 1,
  },
  {
    version: "HTTP/2",
    channel: "http2.server.stream.created",
    begin: openSilentHttp2,
    formatRequest: (at) => requestFrame(2 * at + 1),
    countAnswers: (received) =>
      parseFrames(received).filter(({ type }) => type === frameTypes.headers).length,
  },
];

it.each(floods)(
  "in a turn of the event loop few requests arrive, of any number of $version connections",
  async ({ channel, begin, formatRequest, countAnswers }) => {
    await using listener = await listen(async () => ({ status: 200 }));
    using opened = new DisposableStack();
    const answered = async (
      { socket }: RawConnection,
      count: number,
      received: () => string,
    ): Promise<void> => {
      while (countAnswers(received()) < count) await once(socket, "data");
    };
    const open = async () => {
      const connection = opened.use(await openRawConnection(listener.port));
      let received = "";
      connection.socket.on("data", (text: string) => {
        received += text;
      });
      await begin(connection);
      await connection.write(formatRequest(0));
      await answered(connection, 1, () => received); // from here on the server reads it
      return { connection, whole: () => answered(connection, 1 + requests, () => received) };
    };
    const all = await Promise.all(Array.from({ length: connections }, open));
    using arrivals = countArrivals(channel);
    const packet = Buffer.concat(
      Array.from({ length: requests }, (_, at) => Buffer.from(formatRequest(1 + at))),
    );
    for (const { connection } of all) void connection.write(packet);
    await Promise.all(all.map(({ whole }) => whole()));
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
