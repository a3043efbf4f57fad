import { once } from "node:events";
import { expect, it } from "vitest";
import {
  formatFrame,
  frameTypes,
  type Http2Frame,
  parseFrames,
  requestFrame,
} from "../../../test-support/http2-frames.ts";
import { openRawConnection, type RawConnection } from "../../../test-support/raw-connection.ts";
import { listen } from "../listen.ts";

const body = "x".repeat(60_000);

it("of pipelined requests whose answers are not read, a few are served", async () => {
  const requests = 600; // 36 MB of answers: far above what two kernel buffers hold
  let served = 0;
  await using listener = await listen(async () => {
    served += 1;
    return { status: 200, body };
  });
  using connection = await openRawConnection(listener.port);
  connection.socket.pause();
  await connection.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(requests));
  for (let [still, last] = [0, -1]; still < 200; last = served) {
    await new Promise(setImmediate);
    still = served === last ? still + 1 : 0;
  }
  expect(served).toBeLessThan(400);
  connection.socket.resume();
  while (served < requests) await once(connection.socket, "data");
});

it("a small answer that is not read is cut off like a large one", async () => {
  await using listener = await listen(async () => ({ status: 200, body }), { stalledReaderTimeoutMs: 30 });
  using connection = await openWithoutWindow(listener.port);
  await connection.write(requestFrame(1));
  expect(await resets(connection, 1)).toEqual([1]);
});

it("when small answers that are not read take too much memory, the oldest of them are cut off", async () => {
  const allServed = Promise.withResolvers<void>();
  let served = 0;
  await using listener = await listen(
    async () => {
      served += 1;
      if (served === 20) allServed.resolve();
      return { status: 200, body };
    },
    { maxUnreadBytes: 2_000_000 },
  );
  using connection = await openWithoutWindow(listener.port);
  const streams = Array.from({ length: 20 }, (_, at) => 2 * at + 1);
  await connection.write(Buffer.concat(streams.map((id) => requestFrame(id))));
  await allServed.promise;
  expect(await resets(connection, 4)).toEqual([1, 3, 5, 7]); // the others have 960,000 bytes, in twice as much memory
});

it("where large answers take too much memory, small ones that have waited longer are not cut off", async () => {
  let served = 0;
  await using listener = await listen(
    async ({ header }) => {
      served += 1;
      return { status: 200, body: header.has("small") ? "x".repeat(1_000) : body };
    },
    { maxUnreadBytes: 2_000_000 },
  );
  using connection = await openWithoutWindow(listener.port);
  const small = Array.from({ length: 100 }, (_, at) => requestFrame(2 * at + 1, { small: "1" }));
  await connection.write(Buffer.concat(small));
  await expect.poll(() => served).toBe(100);
  const large = Array.from({ length: 18 }, (_, at) => requestFrame(2 * at + 201));
  await connection.write(Buffer.concat(large));
  await expect.poll(() => served).toBe(118);
  expect(await resets(connection, 3)).toEqual([201, 203, 205]);
});

it("of callers behind one trusted proxy, it is the one with most unread answers whose oldest are cut off", async () => {
  let served = 0;
  await using listener = await listen(
    async () => {
      served += 1;
      return { status: 200, body };
    },
    { maxUnreadBytes: 2_000_000, trustedProxies: ["loopback"] },
  );
  using connection = await openWithoutWindow(listener.port);
  await connection.write(requestFrame(1, { "x-forwarded-for": "203.0.113.2" }));
  const others = Array.from({ length: 19 }, (_, at) => 2 * at + 3);
  const frames = others.map((id) => requestFrame(id, { "x-forwarded-for": "203.0.113.1" }));
  await connection.write(Buffer.concat(frames));
  await expect.poll(() => served).toBe(20);
  expect(await resets(connection, 4)).toEqual([3, 5, 7, 9]);
});

it("what was made of an answer and is not written yet counts, too, unless it is the only one", async () => {
  let served = 0;
  await using listener = await listen(
    async () => {
      served += 1;
      return { status: 200, body: "x".repeat(900_000) };
    },
    { maxUnreadBytes: 500_000, stalledReaderTimeoutMs: 3_600_000 },
  );
  using connection = await openWithoutWindow(listener.port);
  await connection.write(requestFrame(1));
  await expect.poll(() => served).toBe(1);
  await new Promise(setImmediate);
  await connection.write(requestFrame(3));
  expect(await resets(connection, 1)).toEqual([1]);
});

/** An HTTP/2 client that lets streams send nothing but their fields. */
async function openWithoutWindow(port: number): Promise<RawConnection> {
  const connection = await openRawConnection(port);
  const noWindow = Buffer.from([0, 4, 0, 0, 0, 0]);
  await connection.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  await connection.write(
    formatFrame({ type: frameTypes.settings, flags: 0, streamId: 0, payload: noWindow }),
  );
  return connection;
}

/** The streams that the server has reset, as soon as they are so many. */
async function resets(connection: RawConnection, count: number): Promise<number[]> {
  const isReset = ({ type }: Http2Frame): boolean => type === 3;
  for (let received = ""; ; await once(connection.socket, "data")) {
    received = await connection.until("");
    const reset = parseFrames(received).filter(isReset);
    if (reset.length >= count) return reset.map(({ streamId }) => streamId);
  }
}
