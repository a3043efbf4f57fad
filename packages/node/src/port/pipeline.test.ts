import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, vi } from "vitest";
import { Pipeline } from "./pipeline.ts";

it("refuses what came last in a turn of its caller, once", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  const accepted = once(server, "connection");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const client = connect(port, "127.0.0.1");
  const [socket] = (await accepted) as [Socket];
  const turns: PromiseWithResolvers<void>[] = [];
  const turnBeforeEnd = () => {
    const turn = Promise.withResolvers<void>();
    turns.push(turn);
    return turn.promise;
  };
  const discard = vi.fn();
  const reader = { hold: () => {}, release: () => {}, throwAway: () => {}, discard, readForMs: 0 };
  const pipeline = new Pipeline(socket, reader, { turnBeforeEnd });
  pipeline.refuse(408);
  pipeline.refuse(400);
  expect(turns).toHaveLength(1);
  expect(discard).toHaveBeenCalledOnce(); // otherwise the request could become whole meanwhile, and be served
  expect([socket.bytesWritten, socket.writableEnded]).toEqual([0, false]);
  turns[0]?.resolve();
  expect(await text(client)).toMatch(/^HTTP\/1\.1 408 /);
  client.destroy();
  server.close();
});
