import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { Places } from "./callers/places.ts";
import { defaultLimits } from "./listen-options.ts";
import { SlicedReader } from "./sliced-reader.ts";

it("counts each read of a connection: each byte may come in a record of TLS of its own", async () => {
  const socket = Object.assign(new PassThrough(), { parser: {} });
  const parsed: number[] = [];
  socket.on("data", (bytes: Buffer) => parsed.push(bytes.length));
  let reads = 0;
  const countRead = (): void => {
    reads += 1;
  };
  const connection = { countRead, waitIfStopped: () => false };
  const header = { places: new Places(defaultLimits).openHeader(""), refuse: () => expect.fail() };
  new SlicedReader(socket as unknown as Socket, connection, header);
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
