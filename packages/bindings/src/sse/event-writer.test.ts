import { setImmediate as nextTurn } from "node:timers/promises";
import { text } from "@a2a-connect/core";
import type { Timer } from "@a2a-connect/core/internal";
import { StreamResponseSchema } from "@a2a-connect/proto";
import { create, type Message } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents } from "../../test-support/fake-service.ts";
import { memoryRequest } from "../../test-support/memory-http.ts";
import { createJsonRpcHandler } from "../jsonrpc/handler.ts";
import { jsonCodec, protoCodec } from "../rpc/codec.ts";
import { envelopOnce } from "../rpc/envelope.ts";
import { EventWriter } from "./event-writer.ts";

const subscribe = () =>
  memoryRequest({
    header: { "content-type": "application/json" },
    body: '{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"t"}}',
  });

describe("respondStream", () => {
  it("opens a stream that stays silent, so that its reader gets headers and keep-alives", async () => {
    const ticks: { delayMs: number; tick: () => void }[] = [];
    const armed = Promise.withResolvers<void>();
    const timer: Timer = (delayMs, tick) => {
      ticks.push({ delayMs, tick });
      armed.resolve();
      return () => {};
    };
    const gate = Promise.withResolvers<void>();
    const service = createFakeService({
      async *subscribeToTask(_, { responseHeader }) {
        responseHeader.set("x-a2a-event-id", "5");
        await gate.promise;
        yield* fakeEvents().slice(0, 1);
      },
    });
    const pending = createJsonRpcHandler(service, { timer, openAfterMs: 7, keepAliveMs: 11 })(subscribe());
    await armed.promise;
    ticks[0]?.tick();
    const response = await pending;
    expect(response.status).toBe(200);
    expect(response.header?.get("x-a2a-event-id")).toBe("5");
    if (typeof response.body !== "object" || response.body instanceof Uint8Array) {
      throw new Error("not a stream");
    }
    const chunks = response.body[Symbol.asyncIterator]();
    const comment = chunks.next();
    ticks[1]?.tick();
    expect((await comment).value).toEqual(new TextEncoder().encode(":\n\n"));
    gate.resolve();
    expect(new TextDecoder().decode((await chunks.next()).value)).toMatch(/^id: 5\ndata: /);
    expect(ticks.map(({ delayMs }) => delayMs)).toEqual([7, 11, 11]);
  });

  it("numbers events whose first id was not known when the stream was opened", async () => {
    const ticks: (() => void)[] = [];
    const armed = Promise.withResolvers<void>();
    const timer: Timer = (_delayMs, tick) => {
      ticks.push(tick);
      armed.resolve();
      return () => {};
    };
    const gate = Promise.withResolvers<void>();
    const service = createFakeService({
      async *subscribeToTask(_, { responseHeader }) {
        await gate.promise;
        responseHeader.set("x-a2a-event-id", "5");
        yield* fakeEvents().slice(0, 2);
      },
    });
    const pending = createJsonRpcHandler(service, { timer })(subscribe());
    await armed.promise;
    ticks[0]?.();
    const { body } = await pending;
    gate.resolve();
    if (typeof body !== "object" || body instanceof Uint8Array) {
      throw new Error("not a stream");
    }
    const text = new TextDecoder().decode(
      Uint8Array.from((await Array.fromAsync(body)).flatMap((chunk) => [...chunk])),
    );
    expect(text.match(/^id: .*$/gm)).toEqual(["id: 5", "id: 6"]);
  });
});

describe("an event that is not small", () => {
  const eventOf = (length: number) =>
    create(StreamResponseSchema, {
      payload: {
        case: "artifactUpdate",
        value: { artifact: { artifactId: "a", parts: [text("x".repeat(length))] } },
      },
    });

  /** How many of 50 readers were given their events in the first turn of the event loop. */
  async function countInATurn(write: (event: Message) => unknown, length: number): Promise<number> {
    let written = 0;
    const all = Array.from({ length: 50 }, async () => {
      await write(eventOf(length));
      written += 1;
    });
    await nextTurn();
    const first = written;
    await Promise.all(all);
    return first;
  }

  const writer = () => new EventWriter({ event: () => "{}", failure: String }, new Headers());
  const wires: readonly (readonly [string, (event: Message) => unknown])[] = [
    ["server-sent events", (event) => writer().message(event)],
    ...[protoCodec, jsonCodec].map(
      (codec) =>
        [
          `envelopes in ${codec.name}`,
          (event: Message) => envelopOnce(codec, StreamResponseSchema, event, "reader"),
        ] as const,
    ),
  ];
  for (const [name, write] of wires) {
    it(`is written in a slice of its reader; small ones at once: ${name}`, async () => {
      expect(await countInATurn(write, 1_000)).toBe(50);
      expect(await countInATurn(write, 20_000)).toBeLessThan(3);
    });
  }
});
