import { ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createGate, json, readBytes } from "../../test-support/handlers.ts";
import { formatFrame, openSilentHttp2, requestFrame } from "../../test-support/http2-frames.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { type Callers, findCallers } from "./callers/callers.ts";
import { listen } from "./listen.ts";
import { defaultLimits } from "./listen-options.ts";

/** What the requests of a listener with these limits share. No other test may have the same. */
function callersOf(limits: { maxBodyBytesPerConnection: number }): Callers {
  return findCallers({ ...defaultLimits, ...limits });
}

const ends = 0x1;

function dataFrame(streamId: number, payload: Uint8Array, flags = 0): Buffer {
  return formatFrame({ type: 0, flags, streamId, payload: Buffer.from(payload) });
}

/** HEADERS of a POST whose body follows. */
function postFrame(streamId: number): Buffer {
  const frame = requestFrame(streamId);
  frame.writeUInt8(0x4, 4); // without END_STREAM
  frame.writeUInt8(0x83, 9); // POST
  return frame;
}

it("the bodies of HTTP/2 streams count while the streams wait to begin, and arrive whole", async () => {
  const limits = { maxBodyBytesPerConnection: 60_000_001 };
  const callers = callersOf(limits);
  const streams = 1_000;
  const first = Promise.withResolvers<void>();
  let begun = 0;
  const lengths: number[] = [];
  const answered = Promise.withResolvers<void>();
  await using listener = await listen(async (request) => {
    begun += 1;
    first.resolve();
    lengths.push((await readBytes(request, 100_000)).length);
    if (lengths.length === streams) answered.resolve();
    return { status: 200 };
  }, limits);
  using connection = await openRawConnection(listener.port);
  await openSilentHttp2(connection);
  const ids = Array.from({ length: streams }, (_, at) => 2 * at + 1);
  const last = 2 * streams - 1;
  const pieces = Array.from({ length: 1_000 }, () => dataFrame(last, Uint8Array.of(7)));
  const packet = [...ids.map(postFrame), ...pieces, dataFrame(last - 2, new Uint8Array(9_000), ends)];
  await connection.write(Buffer.concat(packet));
  await first.promise;
  await expect.poll(() => callers.bodies.held, { interval: 0 }).toBe(10_000);
  expect(begun).toBeLessThan(streams / 2);
  const rest = ids.filter((id) => id !== last - 2);
  await connection.write(Buffer.concat(rest.map((id) => dataFrame(id, new Uint8Array(0), ends))));
  await answered.promise;
  expect(lengths.sort((one, other) => other - one).slice(0, 3)).toEqual([9_000, 1_000, 0]);
  await expect.poll(() => callers.bodies.held).toBe(0);
});

it("bodies of streams that wait to begin are forgotten when their connection ends", async () => {
  const limits = { maxBodyBytesPerConnection: 60_000_002 };
  const callers = callersOf(limits);
  let begun = 0;
  await using listener = await listen(async (request) => {
    begun += 1;
    await readBytes(request, 100_000);
    return { status: 200 };
  }, limits);
  {
    using connection = await openRawConnection(listener.port);
    await openSilentHttp2(connection);
    const ids = Array.from({ length: 1_000 }, (_, at) => 2 * at + 1);
    const bodies = ids.map((id) => dataFrame(id, new Uint8Array(10)));
    await connection.write(Buffer.concat([...ids.map(postFrame), ...bodies]));
    await expect.poll(() => callers.bodies.held, { interval: 0 }).toBe(10_000);
    expect(begun).toBeLessThan(500);
  }
  await expect.poll(() => callers.bodies.held).toBe(0);
  expect((await fetch(listener.url)).status).toBe(200);
});

it("the body of a pipelined request counts while the request waits to begin, and arrives whole", async () => {
  const limits = { maxBodyBytesPerConnection: 60_000_003 };
  const callers = callersOf(limits);
  const gate = createGate();
  let begun = 0;
  await using listener = await listen(async (request) => {
    begun += 1;
    if (request.method === "GET") await gate.opened;
    return json((await readBytes(request, 100_000)).length);
  }, limits);
  using connection = await openRawConnection(listener.port);
  const others = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(8);
  await connection.write(
    `${others}POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(1_000)}`,
  );
  await expect.poll(() => callers.bodies.held).toBe(1_000);
  expect(begun).toBe(8);
  await connection.write("0\r\n\r\n");
  gate.open();
  expect(await connection.until("1000")).toContain("HTTP/1.1 200 ");
  expect(callers.bodies.held).toBe(0);
});

it("the body of a pipelined request that breaks while it waits to begin is forgotten with its connection", async () => {
  const limits = { maxBodyBytesPerConnection: 60_000_004 };
  const callers = callersOf(limits);
  const gate = createGate();
  let begun = 0;
  await using listener = await listen(async () => {
    begun += 1;
    await gate.opened;
    return { status: 200 };
  }, limits);
  using connection = await openRawConnection(listener.port);
  const others = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(8);
  const post = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
  await connection.write(`${others}${post}1\r\nx\r\nno number\r\n`);
  await expect.poll(() => callers.bodies.held).toBe(1);
  gate.open();
  expect(await connection.closed()).toContain("HTTP/1.1 400 ");
  await expect.poll(() => callers.bodies.held).toBe(0);
  expect(begun).toBe(8);
});

it("a caller may not fill the memory with one body before the server reads it", async () => {
  const mebibyte = 1024 * 1024;
  const limits = { maxBodyBytesPerConnection: 2 * mebibyte };
  const callers = callersOf(limits);
  const gate = createGate();
  await using listener = await listen(async (request) => {
    await gate.opened; // such as a check of credentials elsewhere
    const outcome = await readBytes(request, 16 * mebibyte).catch(
      (error) => ConnectError.from(error).rawMessage,
    );
    return typeof outcome === "string" ? json(outcome, 429) : json(outcome.length);
  }, limits);
  using connection = await openRawConnection(listener.port);
  await connection.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${3 * mebibyte}\r\n\r\n`);
  await connection.write(new Uint8Array(2 * mebibyte));
  await expect.poll(() => callers.bodies.held).toBe(2 * mebibyte);
  await connection.write(new Uint8Array(mebibyte));
  await expect.poll(() => callers.bodies.held).toBe(0);
  gate.open();
  await connection.until("HTTP/1.1 429 ");
});
