import type { HttpHandler } from "@a2a-connect/bindings";
import { describe, expect, it } from "vitest";
import { readBytes } from "../../test-support/handlers.ts";
import { openRawConnection, type RawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

const header = "GET / HTTP/1.1\r\nhost: localhost\r\n";
const trailers = "POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n";
/** With 32 bytes for each field as large as the long one: seven places, of which 70 are 7/8 of 80. */
const many = "abq:cz\r\n".repeat(800);
const long = `a: ${"x".repeat(30_000)}\r\n`;

describe.each([
  ["a header with many fields", header, many],
  ["a header with a long field", header, long],
  ["trailers", trailers, many],
])("%s of HTTP/1.1 before it is complete", (_, start, fields) => {
  async function open() {
    const opened = new AsyncDisposableStack();
    const handler: HttpHandler = async (request) => {
      await readBytes(request, 1);
      return { status: 200, body: "answer" };
    };
    const listener = opened.use(await listen(handler, { maxStreams: 80 }));
    const send = async (...packets: readonly string[]): Promise<RawConnection> => {
      const connection = opened.use(await openRawConnection(listener.port));
      for (const packet of packets) await connection.write(packet);
      return connection;
    };
    return { send, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }

  it.each([1, 2])("takes places, and is refused when there are none, in %i packets", async (packets) => {
    await using server = await open();
    const half = start.length + fields.length / 2;
    const text = start + fields;
    const send = (): Promise<RawConnection> =>
      packets === 1 ? server.send(text) : server.send(text.slice(0, half), text.slice(half));
    let closed = 0;
    const connections = await Promise.all(Array.from({ length: 15 }, send));
    for (const { socket } of connections) socket.once("close", () => (closed += 1));
    await expect.poll(() => closed).toBe(5);
    const refused = connections.filter(({ socket }) => socket.destroyed);
    for (const each of refused) expect(await each.closed()).toMatch(/^HTTP\/1\.1 429 .*RESOURCE_EXHAUSTED/s);
    await (await server.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")).until("answer");
    const kept = connections.filter((each) => !refused.includes(each));
    for (const each of kept) {
      await each.write("\r\n");
      await each.until("answer");
    }
    for (const each of await Promise.all(kept.map(send))) {
      await each.write("\r\n"); // the places were free again
      await each.until("answer");
    }
  });
});
