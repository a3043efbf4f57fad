import { type StreamResponse, StreamResponseSchema, SubscribeToTaskRequestSchema } from "@a2a-connect/proto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents } from "../../test-support/fake-service.ts";
import { createManualTimer } from "../../test-support/manual-timer.ts";
import {
  chunksOf,
  codingHeaders,
  type RpcWire,
  readRaw,
  rpcWires,
  sendRaw,
} from "../../test-support/raw-rpc.ts";
import { sendHeadNow } from "../open-stream.ts";
import { createRpcHandlers } from "./handlers.ts";

const subscribe = {
  method: "subscribeToTask",
  request: create(SubscribeToTaskRequestSchema, { id: "t" }),
} as const;

describe("an event with several readers", () => {
  const events = fakeEvents();
  const handlers = createRpcHandlers(
    createFakeService({
      async *subscribeToTask() {
        yield* events;
      },
    }),
    { compressions: [compressionGzip], compressMinBytes: 1 },
  );

  async function readChunks(wire: RpcWire, header: Record<string, string> = {}): Promise<Uint8Array[]> {
    const chunks = chunksOf(await sendRaw(handlers, { wire, ...subscribe, header }));
    const read: Uint8Array[] = [];
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      read.push(next.value);
    }
    return read.slice(0, events.length); // without the last envelope, which is each protocol's own
  }

  it("is encoded once: all readers on all three protocols get the same bytes in the same memory", async () => {
    const [first = [], ...others] = await Promise.all(
      [...rpcWires, ...rpcWires].map((wire) => readChunks(wire)),
    );
    expect(first.map((chunk) => chunk.slice(5))).toEqual(
      events.map((event) => toBinary(StreamResponseSchema, event)),
    );
    for (const chunks of others) {
      expect(chunks).toHaveLength(events.length);
      for (const [index, chunk] of chunks.entries()) {
        expect(chunk.buffer).toBe(first[index]?.buffer);
      }
    }
  });

  it("is compressed once, too", async () => {
    const readers = await Promise.all(
      [...rpcWires, ...rpcWires].map((wire) =>
        readChunks(wire, { [codingHeaders({ wire, ...subscribe }).accept]: "gzip" }),
      ),
    );
    const [first = []] = readers;
    expect(first.map(([flags]) => flags)).toEqual([1, 1, 1]);
    for (const chunks of readers) {
      expect(chunks.map(({ buffer }) => buffer)).toEqual(first.map(({ buffer }) => buffer));
      expect(chunks.every((chunk, index) => chunk.buffer === first[index]?.buffer)).toBe(true);
    }
  });
});

for (const wire of rpcWires) {
  describe(`a stream over ${wire}`, () => {
    /** A stream that sets headers and then waits; the test decides what comes. */
    function createSilentStream(announce: boolean) {
      const next = Promise.withResolvers<StreamResponse>();
      const clock = createManualTimer();
      let returned = false;
      const service = createFakeService({
        async *subscribeToTask(_, context) {
          context.responseHeader.set("x-a2a-event-id", "8");
          if (announce) {
            sendHeadNow(context);
          }
          try {
            yield await next.promise;
          } finally {
            returned = true;
          }
        },
      });
      const handlers = createRpcHandlers(service, { timer: clock.timer, openAfterMs: 700 });
      return { next, clock, handlers, isReturned: () => returned };
    }

    it("opens while it is silent, with the headers that are set, after openAfterMs", async () => {
      const { next, clock, handlers } = createSilentStream(false);
      const pending = sendRaw(handlers, { wire, ...subscribe });
      await expect.poll(clock.pending).toEqual([700]);
      clock.fire(700);
      const response = await pending;
      expect(response.headAtOnce).toBe(true);
      expect(response.header?.get("x-a2a-event-id")).toBe("8");
      next.reject(new ConnectError("too late", Code.NotFound));
      expect((await readRaw({ wire, ...subscribe }, response)).error).toMatchObject({ code: Code.NotFound });
    });

    it("opens at once when its implementation says so", async () => {
      const { next, clock, handlers } = createSilentStream(true);
      const response = await sendRaw(handlers, { wire, ...subscribe });
      expect([response.headAtOnce, response.header?.get("x-a2a-event-id")]).toEqual([true, "8"]);
      next.resolve(fakeEvents()[0] ?? create(StreamResponseSchema));
      const { messages, error } = await readRaw({ wire, ...subscribe }, response);
      expect([messages.length, error]).toEqual([1, undefined]);
      expect(clock.pending()).toEqual([]);
    });

    it("sends head and first message together when that is there", async () => {
      const response = await sendRaw(createRpcHandlers(createFakeService()), { wire, ...subscribe });
      expect(response.headAtOnce).toBe(false);
      await chunksOf(response).return?.();
    });

    it("tells its reader at once when the server leaves, whatever the implementation does", async () => {
      const { handlers } = createSilentStream(true);
      const call = new AbortController();
      const response = await sendRaw(handlers, { wire, ...subscribe, signal: call.signal });
      const reading = readRaw({ wire, ...subscribe }, response);
      call.abort(new ConnectError("the server is shutting down", Code.Unavailable));
      expect((await reading).error).toMatchObject({
        code: Code.Unavailable,
        rawMessage: "the server is shutting down",
      });
    });

    it("ends without a word when its reader has gone, and lets the implementation clean up", async () => {
      let cleanedUp = false;
      const service = createFakeService({
        async *subscribeToTask() {
          try {
            yield* fakeEvents();
          } finally {
            cleanedUp = true;
          }
        },
      });
      const call = new AbortController();
      const chunks = chunksOf(
        await sendRaw(createRpcHandlers(service), { wire, ...subscribe, signal: call.signal }),
      );
      await chunks.next();
      call.abort(new ConnectError("the caller went away", Code.Canceled));
      expect((await chunks.next()).done).toBe(true);
      await expect.poll(() => cleanedUp).toBe(true);
    });

    it("carries trailers, of streams that end well and of those that do not", async () => {
      for (const failing of [false, true]) {
        const service = createFakeService({
          async *subscribeToTask(_, { responseTrailer }) {
            yield* fakeEvents();
            responseTrailer.set("x-after", "1");
            if (failing) {
              throw new ConnectError("no more", Code.Aborted, { "x-why": "full" });
            }
          },
        });
        const response = await sendRaw(createRpcHandlers(service), { wire, ...subscribe });
        const { error, trailer, messages } = await readRaw({ wire, ...subscribe }, response);
        expect([error?.code, messages.length]).toEqual([failing ? Code.Aborted : undefined, 3]);
        expect(trailer.get("x-after")).toBe("1");
        expect(trailer.get("x-why")).toBe(failing ? "full" : null);
      }
    });
  });
}
