import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fakeIntervals } from "../../test-support/intervals.ts";
import { Pipeline, type ServeHttp1 } from "./pipeline.ts";

/** The two ends of a connection. */
async function openConnection(): Promise<{ readonly client: Socket; readonly socket: Socket }> {
  const server = createServer().listen(0, "127.0.0.1");
  const accepted = once(server, "connection");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const client = connect(port, "127.0.0.1");
  const [socket] = (await accepted) as [Socket];
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return { client, socket };
}

it("refuses what came last in a turn of its caller, once", async () => {
  const { client, socket } = await openConnection();
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
});

describe("a request that could not be served", () => {
  async function openPipeline() {
    const { client, socket } = await openConnection();
    const reader = {
      hold: () => {},
      release: () => {},
      throwAway: () => {},
      discard: () => {},
      readForMs: 0,
    };
    const pipeline = new Pipeline(socket, reader, { turnBeforeEnd: () => undefined });
    const faults: unknown[] = [];
    const closed = once(client.resume(), "close");
    return {
      socket,
      faults,
      closed,
      add(serve: ServeHttp1): void {
        const message = new IncomingMessage(socket);
        const server = {
          serve,
          takePlaces: () => undefined,
          onFault: (fault: unknown) => faults.push(fault),
        };
        pipeline.add(message, new ServerResponse(message), server);
      },
    };
  }
  const fault = new Error("xyzzy");

  it("cuts its connection, which is told", async () => {
    const { add, closed, faults } = await openPipeline();
    add(() => Promise.reject(fault));
    await closed;
    expect(faults).toEqual([fault]);
  });

  it("cuts its connection when its turn comes, where it fails before that", async () => {
    const { add, closed, faults, socket } = await openPipeline();
    const first = Promise.withResolvers<void>();
    for (let at = 0; at < 8; at += 1) add(() => first.promise);
    add(() => Promise.reject(fault));
    await nextTurn(); // a rejection that nothing handles would fail the tests
    expect([faults, socket.destroyed]).toEqual([[], false]);
    first.resolve();
    await closed;
    expect(faults).toEqual([fault]);
  });

  it("is not told when its caller has gone", async () => {
    const { add, closed, faults, socket } = await openPipeline();
    add(async () => {
      socket.destroy();
      await Promise.reject(fault);
    });
    await closed;
    expect(faults).toEqual([]);
  });
});

describe("a request that is late by Node's clock", () => {
  const limits = { headersTimeoutMs: 80, requestTimeoutMs: 800 };

  async function openLate() {
    const clock = fakeIntervals();
    const { socket } = await openConnection();
    const discard = vi.fn();
    const reader = { hold: () => {}, release: () => {}, throwAway: () => {}, discard, readForMs: 0 };
    const pipeline = new Pipeline(socket, reader, { turnBeforeEnd: () => undefined });
    onTestFinished(() => clock[Symbol.dispose]());
    return {
      pipeline,
      socket,
      /** A header has come, and its body has not. */
      add() {
        const message = new IncomingMessage(socket);
        const serve = () => Promise.withResolvers<void>().promise;
        const server = { serve, takePlaces: () => undefined, onFault: () => {} };
        pipeline.add(message, new ServerResponse(message), server);
      },
      /** Whether it is refused when its connection has been read for so long. */
      async isRefused(readForMs: number): Promise<boolean> {
        reader.readForMs = readForMs;
        clock.pass(limits.headersTimeoutMs);
        await nextTurn();
        await nextTurn();
        return discard.mock.calls.length > 0;
      },
    };
  }

  it("is refused when its header was read for the time of headers", async () => {
    const { pipeline, isRefused } = await openLate();
    pipeline.refuseLate(limits);
    expect([await isRefused(79), await isRefused(80)]).toEqual([false, true]);
  });

  it("is refused when its body was read for the time of requests", async () => {
    const { pipeline, add, isRefused } = await openLate();
    add();
    pipeline.refuseLate(limits);
    expect([await isRefused(799), await isRefused(800)]).toEqual([false, true]);
  });

  it("leaves nothing at its connection, which may bring many of them", async () => {
    const { pipeline, socket } = await openLate();
    const before = socket.listenerCount("close");
    for (let count = 0; count < 20; count += 1) pipeline.refuseLate(limits);
    expect(socket.listenerCount("close")).toBe(before);
    expect(vi.getTimerCount()).toBe(1);
  });

  it("has the time of requests when its header comes before it is refused", async () => {
    const { pipeline, add, isRefused } = await openLate();
    pipeline.refuseLate(limits);
    expect(await isRefused(79)).toBe(false);
    add();
    expect([await isRefused(799), await isRefused(800)]).toEqual([false, true]);
  });
});
