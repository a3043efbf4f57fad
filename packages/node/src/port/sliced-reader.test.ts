import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { Places } from "./callers/places.ts";
import { defaultLimits } from "./listen-options.ts";
import { SlicedReader } from "./sliced-reader.ts";

const header = { places: new Places(defaultLimits).openHeader(""), refuse: () => expect.fail() };

function openSocket(): PassThrough & Socket {
  return Object.assign(new PassThrough(), { parser: {} }) as unknown as PassThrough & Socket;
}

it("counts each read of a connection: each byte may come in a record of TLS of its own", async () => {
  const socket = openSocket();
  const parsed: number[] = [];
  socket.on("data", (bytes: Buffer) => parsed.push(bytes.length));
  let reads = 0;
  const countRead = (): void => {
    reads += 1;
  };
  const connection = { countRead, waitIfStopped: () => false };
  new SlicedReader(socket, connection, header);
  for (let at = 0; at < 100; at += 1) {
    socket.write("x");
    await nextTurn();
  }
  expect(reads).toBe(100);
  socket.write(Buffer.alloc(40_000));
  await nextTurn();
  await nextTurn();
  expect(parsed.slice(100)).toEqual([16_384, 16_384, 7_232]);
  expect(reads).toBe(103);
});

it("frees a packet when all of it is parsed, but no memory that others use, too", async () => {
  const socket = openSocket();
  socket.on("data", () => {});
  new SlicedReader(socket, { countRead: () => {}, waitIfStopped: () => false }, header);
  const packet = Buffer.allocUnsafeSlow(40_000);
  const shared = Buffer.allocUnsafeSlow(40_000);
  socket.write(packet);
  await nextTurn();
  await nextTurn();
  socket.write(shared.subarray(20_000));
  await nextTurn();
  await nextTurn();
  expect([packet, shared].map(({ buffer }) => buffer.detached)).toEqual([true, false]);
});

it("knows how long it has read without a break, which a turn of its caller's other connections is not", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = openSocket();
  socket.on("data", () => {});
  let readOn: (() => void) | undefined;
  let isStopped = true;
  const waitIfStopped = (then: () => void): boolean => {
    readOn = then;
    return isStopped;
  };
  const reader = new SlicedReader(socket, { countRead: () => {}, waitIfStopped }, header);
  await nextTurn();
  vi.advanceTimersByTime(30);
  expect(reader.readForMs).toBe(30);
  socket.write("x");
  await nextTurn();
  expect(reader.readForMs).toBe(0);
  vi.advanceTimersByTime(5);
  isStopped = false;
  readOn?.();
  await nextTurn();
  expect(reader.readForMs).toBe(35);
  reader.hold();
  vi.advanceTimersByTime(10);
  expect(reader.readForMs).toBe(0);
  reader.release();
  await nextTurn();
  vi.advanceTimersByTime(7);
  expect(reader.readForMs).toBe(7);
});
