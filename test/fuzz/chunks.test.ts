// What arrives in chunks, at both ends of the wires: it must not matter where one chunk ends and the next one begins.

import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { createHttpJsonHandler, createJsonRpcHandler, createRpcHandlers } from "@a2a-connect/bindings/server";
import { A2AService, StreamResponseSchema } from "@a2a-connect/proto";
import { toJson } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents } from "../../packages/bindings/test-support/fake-service.ts";
import { memoryRequest } from "../../packages/bindings/test-support/memory-http.ts";
import type { RawAnswer } from "../bad-input/raw-call.ts";
import { watchRejections } from "../client/watch-rejections.ts";
import { applyDamage, chunkSizes, cutIntoChunks, damage } from "./damage.ts";
import { type Entry, formatEntry, readCorpus } from "./entry.ts";
import { editJson, jsonEdit } from "./json-edits.ts";
import { mutatedRequests } from "./mutated.ts";
import { fuzz } from "./runs.ts";

watchRejections();

const service = createFakeService();
const rpcHandlers = createRpcHandlers(service);
const jsonRpcHandler = createJsonRpcHandler(service);
const httpJsonHandler = createHttpJsonHandler(service);

/** The answer of the handlers to a request whose body comes in these chunks; undefined where no handler is. */
async function answerTo(entry: Entry, chunks: readonly Uint8Array[]): Promise<RawAnswer | undefined> {
  const { verb, target, fields } = entry;
  const url = new URL(`http://localhost${target}`);
  const handler = url.pathname === "/rpc" ? jsonRpcHandler : rpcHandlers.get(url.pathname);
  const below = /^\/rest(\/.*)$/.exec(url.pathname)?.[1];
  const request = { method: verb, header: fields, body: chunks };
  const answer =
    below === undefined
      ? await handler?.(memoryRequest({ ...request, url: url.href }))
      : await httpJsonHandler(memoryRequest({ ...request, url: `http://localhost${below}${url.search}` }));
  if (answer === undefined) return undefined;
  const { status, header = new Headers(), body = "", trailer = new Headers() } = answer;
  const bytes = typeof body === "string" || body instanceof Uint8Array ? [body] : await Array.fromAsync(body);
  return {
    status,
    fields: header,
    body: Buffer.concat(bytes.map((chunk) => Buffer.from(chunk))),
    trailers: trailer,
  };
}

function describeAnswer(answer: RawAnswer | undefined): unknown {
  if (answer === undefined) return undefined;
  const { status, fields, body, trailers } = answer;
  return [status, [...fields], Buffer.from(body).toString("latin1"), [...trailers]];
}

/** A deadline of the caller makes answers depend on time. */
const timed = ["grpc-timeout", "connect-timeout-ms"];
const isTimed = ({ fields }: Entry): boolean => timed.some((name) => fields[name] !== undefined);

describe("a request in chunks", () => {
  const check = async (entry: Entry, sizes: readonly number[]) => {
    const whole = await answerTo(entry, [entry.body]);
    const cut = await answerTo(entry, cutIntoChunks(entry.body, sizes));
    expect(describeAnswer(cut)).toEqual(describeAnswer(whole));
  };

  it("is answered as it is in one piece", async () => {
    const requests = fc.tuple(
      mutatedRequests().filter((entry) => !isTimed(entry)),
      chunkSizes,
    );
    await fuzz(
      "requests in chunks",
      800,
      requests,
      ([entry]) => formatEntry(entry),
      ([entry, sizes]) => check(entry, sizes),
    );
  });

  it("of the corpus, too, byte by byte", async () => {
    for (const entry of readCorpus()) {
      if (isTimed(entry)) continue;
      await check(
        entry,
        Array.from(entry.body, () => 1),
      );
    }
  });
});

describe("a stream of events in chunks", () => {
  const events = fakeEvents().map((event) => toJson(StreamResponseSchema, event));
  const clients = {
    "JSON-RPC": {
      wrap: (event: unknown) => ({ jsonrpc: "2.0", id: 1, result: event }),
      connect: (fetch: typeof globalThis.fetch) =>
        createJsonRpcTransport({ url: "http://localhost/", fetch }),
    },
    "HTTP+JSON": {
      wrap: (event: unknown) => event,
      connect: (fetch: typeof globalThis.fetch) =>
        createHttpJsonTransport({ baseUrl: "http://localhost", fetch }),
    },
  };

  /** The client's events, and how the stream ended. */
  async function readStream(client: keyof typeof clients, chunks: readonly Uint8Array[]): Promise<unknown[]> {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) if (chunk.length > 0) controller.enqueue(chunk);
        controller.close();
      },
    });
    const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    const { sendStreamingMessage } = createClient(A2AService, clients[client].connect(fetch));
    const outcome: unknown[] = [];
    try {
      for await (const event of sendStreamingMessage({})) outcome.push(event);
      outcome.push("the end");
    } catch (error) {
      expect(error).toBeInstanceOf(ConnectError);
      outcome.push(String(error));
    }
    return outcome;
  }

  const stream = (client: keyof typeof clients) =>
    fc
      .record({
        edits: fc.array(jsonEdit, { maxLength: 2 }),
        damages: fc.array(damage, { maxLength: 3 }),
        lineEnd: fc.constantFrom("\n", "\r", "\r\n"),
        sizes: chunkSizes,
      })
      .map(({ edits, damages, lineEnd, sizes }) => {
        const lines = events.map((event, index) => {
          const text = editJson(clients[client].wrap(event), index === 1 ? edits : []);
          // Two lines of data: within one event a line end that is taken for two ends the event too early.
          const data = [text.slice(0, 1), text.slice(1)].map((line) => `data: ${line}${lineEnd}`);
          return `id: ${index}${lineEnd}${data.join("")}${lineEnd}`;
        });
        return { bytes: damages.reduce(applyDamage, Buffer.from(lines.join(""))), sizes };
      });

  it.each(["JSON-RPC", "HTTP+JSON"] as const)("is read by %s as it is in one piece", async (client) => {
    await fuzz(
      `${client} streams in chunks`,
      300,
      stream(client),
      ({ bytes, sizes }) => `${Buffer.from(bytes).toString("base64")} in ${sizes}`,
      async ({ bytes, sizes }) => {
        const whole = await readStream(client, [bytes]);
        expect(await readStream(client, cutIntoChunks(bytes, sizes))).toEqual(whole);
      },
    );
  });
});
