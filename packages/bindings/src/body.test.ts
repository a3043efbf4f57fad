import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { methods } from "@a2a-connect/core";
import { inThreadTurn } from "@a2a-connect/core/internal";
import { SendMessageRequestSchema, StreamResponseSchema } from "@a2a-connect/proto";
import { SendMessageRequestSchema as OlderRequestSchema, Role as OlderRole } from "@a2a-connect/proto/a2a/v1";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type ServiceImplSpec } from "@connectrpc/connect";
import { type Compression, encodeEnvelope } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeEvents, sendRequest } from "../test-support/fake-service.ts";
import { memoryRequest, responseText } from "../test-support/memory-http.ts";
import { unpackBody } from "./body.ts";
import type { HttpBody, HttpHandler, HttpResponse } from "./http.ts";
import { createHttpJsonHandler } from "./http-json/handler.ts";
import { createJsonRpcHandler } from "./jsonrpc/handler.ts";
import { nextSlice } from "./next-slice.ts";
import { createRpcHandlers } from "./rpc/handlers.ts";

const kibibyte = 1024;

/** Who sends. */
const callerNetwork = "192.0.2.1";

const olderPath = "/a2a.v1.A2AService/SendMessage";

/** Each wire with how it is called and what a message is in its body. */
const wires = {
  "JSON-RPC": { path: "/rpc", type: "application/json", wrap: jsonRpc },
  "HTTP+JSON": { path: "/message:send", type: "application/json", wrap: json },
  gRPC: { path: methods.sendMessage.grpcPath, type: "application/grpc+proto", wrap: envelope },
  "gRPC-Web": { path: methods.sendMessage.grpcPath, type: "application/grpc-web+proto", wrap: envelope },
  Connect: { path: methods.sendMessage.grpcPath, type: "application/proto", wrap: binary },
  "gRPC of 0.3": { path: olderPath, type: "application/grpc+proto", wrap: olderEnvelope },
  "gRPC-Web of 0.3": { path: olderPath, type: "application/grpc-web+proto", wrap: olderEnvelope },
  "HTTP+JSON of 0.3": { path: "/v1/message:send", type: "application/json", wrap: olderJson },
} as const;

function json(text: string): Uint8Array {
  return new TextEncoder().encode(
    toJsonString(SendMessageRequestSchema, create(SendMessageRequestSchema, sendRequest(text))),
  );
}

function jsonRpc(text: string, method = "SendMessage"): Uint8Array {
  const params = new TextDecoder().decode(json(text));
  return new TextEncoder().encode(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
}

function binary(text: string): Uint8Array {
  return toBinary(SendMessageRequestSchema, create(SendMessageRequestSchema, sendRequest(text)));
}

function olderEnvelope(text: string): Uint8Array {
  return encodeEnvelope(0, toBinary(OlderRequestSchema, olderRequest(text)));
}

function olderJson(text: string): Uint8Array {
  return new TextEncoder().encode(toJsonString(OlderRequestSchema, olderRequest(text)));
}

function olderRequest(text: string) {
  const content = [{ part: { case: "text" as const, value: text } }];
  return create(OlderRequestSchema, { request: { messageId: "m-1", role: OlderRole.USER, content } });
}

function envelope(text: string): Uint8Array {
  return encodeEnvelope(0, binary(text));
}

function handlerOf(name: keyof typeof wires, service: ServiceImplSpec): HttpHandler | undefined {
  return handlerAt(name, wires[name].path, service);
}

function handlerAt(
  name: string,
  path: string,
  service: ServiceImplSpec,
  compressions: readonly Compression[] = [],
): HttpHandler | undefined {
  const options = { olderVersions: name.endsWith("0.3"), compressions };
  if (name === "JSON-RPC") return createJsonRpcHandler(service, { compressions });
  return name.startsWith("HTTP+JSON")
    ? createHttpJsonHandler(service, options)
    : createRpcHandlers(service, options).get(path);
}

/** Serves SendMessage on all wires, and notes what happens to a call's body. */
function createTarget(name: keyof typeof wires) {
  const { path, type, wrap } = wires[name];
  const events: string[] = [];
  const service = createFakeService({
    sendMessage: () => {
      events.push("call");
      return { payload: { case: "message", value: { messageId: "m-2" } } };
    },
  });
  const handler = handlerOf(name, service);
  /** @param onTurn what the runtime does when the body asks for its turn */
  const send = (length: number, onTurn: () => Promise<void>, signal?: AbortSignal): Promise<HttpResponse> => {
    const bytes = wrap("x".repeat(length));
    const body: HttpBody = {
      bytes: async () => bytes,
      turnBeforeMessage: () => {
        events.push("turn");
        return onTurn();
      },
      release() {
        events.push("release");
        setImmediate(() => events.push("later"));
        return undefined;
      },
      async *[Symbol.asyncIterator]() {
        yield bytes;
      },
    };
    if (handler === undefined) throw new Error(`nothing serves ${path}`);
    const url = `http://localhost${path}`;
    const request = memoryRequest({ url, header: { "content-type": type }, ...(signal && { signal }) });
    return handler({ ...request, callerNetwork, body });
  };
  return { events, send };
}

describe.each([
  ["JSON-RPC", wires["JSON-RPC"], true],
  ["HTTP+JSON", wires["HTTP+JSON"], true],
  ["HTTP+JSON of 0.3", wires["HTTP+JSON of 0.3"], true],
  ["Connect in JSON", { ...wires.Connect, type: "application/json", wrap: json }, true],
  ["Connect in protobuf, whose message keeps them", wires.Connect, false],
  ["gRPC, whose message keeps them", wires.gRPC, false],
] as const)("the bytes of a large body over %s", (name, { path, type, wrap }, isFreed) => {
  it(`are freed when a text was made of them: ${isFreed}`, async () => {
    const texts: unknown[] = [];
    const service = createFakeService({
      sendMessage: ({ message }) => {
        texts.push(message?.parts[0]?.content.value);
        return { payload: { case: "message", value: { messageId: "m-2" } } };
      },
    });
    const text = "é".repeat(65 * kibibyte);
    const bytes = wrap(text);
    let frees = 0;
    const body: HttpBody = {
      bytes: async () => bytes,
      freeBytes() {
        frees += 1;
        bytes.fill(0);
      },
      async *[Symbol.asyncIterator]() {},
    };
    const request = memoryRequest({ url: `http://localhost${path}`, header: { "content-type": type } });
    await handlerAt(name, path, service)?.({ ...request, body });
    expect(texts).toEqual([text]);
    expect(frees).toBe(isFreed ? 1 : 0);
  });
});

for (const name of Object.keys(wires) as (keyof typeof wires)[]) {
  describe(`a body over ${name}`, () => {
    it("is parsed at once when it is short, and does not count while the call runs", async () => {
      const { events, send } = createTarget(name);
      await send(3 * kibibyte, async () => {});
      expect(events.slice(0, 2)).toEqual(["release", "call"]);
    });

    for (const [what, length] of [
      ["some KiB", 5 * kibibyte],
      ["large", 65 * kibibyte],
    ] as const) {
      it(`waits for its turn when it is ${what}, and ends it before the call runs`, async () => {
        const { events, send } = createTarget(name);
        const turn = Promise.withResolvers<void>();
        const answer = send(length, () => turn.promise);
        await expect.poll(() => events).toEqual(["turn"]);
        turn.resolve();
        await answer;
        // With no turn of the event loop in between: what waited for one would count nowhere.
        expect(events.slice(0, 3)).toEqual(["turn", "release", "call"]);
      });
    }

    it("is not parsed when its caller has gone before its turn", async () => {
      const { events, send } = createTarget(name);
      const caller = new AbortController();
      const answer = await send(
        65 * kibibyte,
        async () => caller.abort(new ConnectError("the caller went away", Code.Canceled)),
        caller.signal,
      );
      expect(events).toEqual(["turn"]);
      const header = JSON.stringify([...(answer.header ?? []), ...(answer.trailer ?? [])]);
      expect(decodeURIComponent(header) + (await responseText(answer))).toContain("the caller went away");
    });
  });
}

describe.each(Object.keys(wires) as (keyof typeof wires)[])("a large body over %s", (name) => {
  it("becomes a message beside its caller's other long work: it holds the turn of bodies meanwhile", async () => {
    const { send } = createTarget(name);
    let [others, isDone] = [0, false];
    const all = Array.from({ length: 1_000 }, async () => {
      while (!isDone) {
        await nextSlice(callerNetwork);
        others += 1;
      }
    });
    await send(700 * kibibyte, async () => {});
    isDone = true;
    expect(others).toBeLessThan(1_000);
    await Promise.all(all);
  });
});

it("decompresses a large body that has its turn beside the answers of its caller, not behind them", async () => {
  const ends: (() => void)[] = [];
  const answers = Array.from({ length: 50 }, () =>
    inThreadTurn(callerNetwork, () => new Promise<void>((resolve) => ends.push(resolve))),
  );
  const body: HttpBody = { async *[Symbol.asyncIterator]() {} };
  const compression: Compression = {
    name: "zeros",
    compress: async () => new Uint8Array(1),
    decompress: async () => new Uint8Array(1),
  };
  const sender = { signal: new AbortController().signal, callerNetwork };
  const limits = { maxBodyBytes: 16 * 1024 * kibibyte, maxCompressionRatio: 200 };
  let isUnpacked = false;
  const unpacked = Promise.resolve(
    unpackBody(body, sender, new Uint8Array(100 * kibibyte), compression, limits),
  );
  void unpacked.then(() => {
    isUnpacked = true;
  });
  await nextTurn();
  for (let ended = 0; ended < 4; ended += 1) {
    ends.shift()?.();
    await nextTurn();
  }
  expect(isUnpacked).toBe(true);
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await nextTurn();
  }
  await Promise.all(answers);
});

it("asks for the turn of a body in the name of its caller", async () => {
  const callers: (string | undefined)[] = [];
  const body: HttpBody = {
    turnBeforeMessage: async (_length, callerNetwork) => void callers.push(callerNetwork),
    async *[Symbol.asyncIterator]() {},
  };
  const sender = { signal: new AbortController().signal, callerNetwork: "203.0.113.9" };
  const limits = { maxBodyBytes: 16 * 1024 * kibibyte, maxCompressionRatio: 200 };
  await unpackBody(body, sender, new Uint8Array(5 * kibibyte), undefined, limits);
  expect(callers).toEqual(["203.0.113.9"]);
});

describe("decompression", () => {
  it.each(Object.keys(wires) as (keyof typeof wires)[])(
    "of a small body counts with the body while that waits for its turn, over %s",
    async (name) => {
      const { path, type, wrap } = wires[name];
      const isEnvelope = name.startsWith("gRPC");
      const plain = wrap("x".repeat(40 * kibibyte)).subarray(isEnvelope ? 5 : 0);
      const packed = await compressionGzip.compress(Uint8Array.from(plain));
      const bytes = isEnvelope ? encodeEnvelope(1, packed) : packed;
      const turns: unknown[] = [];
      const body: HttpBody = {
        bytes: async () => bytes,
        turnBeforeMessage: async (...turn) => void turns.push(turn),
        async *[Symbol.asyncIterator]() {},
      };
      const header = { "content-type": type, [isEnvelope ? "grpc-encoding" : "content-encoding"]: "gzip" };
      const request = { ...memoryRequest({ url: `http://localhost${path}`, header }), callerNetwork, body };
      const service = createFakeService({
        sendMessage: () => ({ payload: { case: "message", value: { messageId: "m-2" } } }),
      });
      await handlerAt(name, path, service, [compressionGzip])?.(request);
      expect(turns).toEqual([[plain.length, callerNetwork, plain.length]]);
    },
  );

  it("of some bytes counts with all memory that it has taken", async () => {
    const unpacked = new Uint8Array(16 * kibibyte).subarray(0, 5 * kibibyte);
    const compression = { ...createBomb(0).compression, decompress: async () => unpacked };
    const { body, turnsTaken } = createBody();
    await unpackBody(body, { signal }, new Uint8Array(10), compression, limits);
    expect(turnsTaken()).toEqual([[5 * kibibyte, 16 * kibibyte]]);
  });

  const signal = new AbortController().signal;
  const limits = { maxBodyBytes: 16 * 1024 * kibibyte, maxCompressionRatio: 200 };

  function createBody() {
    const turns: [length: number, unpackedBytes: number | undefined][] = [];
    const body: HttpBody = {
      turnBeforeMessage: async (length, _, unpackedBytes) => void turns.push([length, unpackedBytes]),
      async *[Symbol.asyncIterator]() {},
    };
    return { body, turnsTaken: () => turns };
  }

  /** Unpacks to zeros, as far as it may, and says how far that was. */
  function createBomb(length: number) {
    const limitsSeen: number[] = [];
    const compression: Compression = {
      name: "bomb",
      compress: async () => new Uint8Array(1),
      async decompress(_bytes, maxBytes) {
        limitsSeen.push(maxBytes);
        if (length > maxBytes) throw new ConnectError("too long", Code.ResourceExhausted);
        return new Uint8Array(length);
      },
    };
    return { compression, limitsSeen };
  }

  it("makes 64 KiB of a short body without a turn, and begins anew in one when that is not all", async () => {
    for (const [length, turns, seen] of [
      [4 * kibibyte, [], [64 * kibibyte]],
      [64 * kibibyte, [[64 * kibibyte, 64 * kibibyte]], [64 * kibibyte]], // to be parsed
      [65 * kibibyte, [[4 * 1024 * kibibyte, 0]], [64 * kibibyte, 4 * 1024 * kibibyte]],
    ] as const) {
      const { body, turnsTaken } = createBody();
      const { compression, limitsSeen } = createBomb(length);
      const unpacked = await unpackBody(body, { signal }, new Uint8Array(10), compression, limits);
      expect([unpacked.length, turnsTaken(), limitsSeen]).toEqual([length, turns, seen]);
    }
  });

  it("is asked for no more than 200 times the length of a body, and never for more than a body may have", async () => {
    for (const [length, most] of [
      [100 * kibibyte, 16 * 1024 * kibibyte],
      [30 * kibibyte, 6_000 * kibibyte],
    ] as const) {
      const { compression, limitsSeen } = createBomb(2 ** 40);
      const bytes = new Uint8Array(length);
      const unpacking = unpackBody(createBody().body, { signal }, bytes, compression, limits);
      await expect(unpacking).rejects.toMatchObject({ code: Code.ResourceExhausted });
      expect(limitsSeen.at(-1)).toBe(most);
    }
  });
});

describe.each(Object.keys(wires) as (keyof typeof wires)[])("a call that waits, over %s", (name) => {
  it("keeps nothing of its body but the message", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const used = () => {
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const end = Promise.withResolvers<void>();
    let waiting = 0;
    const service = createFakeService({
      sendMessage: async () => {
        waiting += 1;
        await end.promise;
        return { payload: { case: "message", value: { messageId: "m-2" } } };
      },
    });
    const isOlder = name === "HTTP+JSON of 0.3";
    const { path, type } = wires[isOlder ? "HTTP+JSON" : name];
    const handler = isOlder
      ? createHttpJsonHandler(service, { olderVersions: true })
      : handlerOf(name, service);
    const send = () => {
      const body: HttpBody = {
        bytes: async () => (isOlder ? olderWithUnknown(2 * 2 ** 20) : withUnknown(name, 2 * 2 ** 20)),
        async *[Symbol.asyncIterator]() {},
      };
      return handler?.({
        ...memoryRequest({
          url: `http://localhost${isOlder ? "/v1" : ""}${path}`,
          header: { "content-type": type },
        }),
        body,
      });
    };
    const before = used();
    const answers = Array.from({ length: 20 }, send);
    await expect.poll(() => waiting).toBe(20);
    await expect.poll(() => used() - before).toBeLessThan(8 * 2 ** 20); // buffers are freed a while after that
    end.resolve();
    for (const answer of answers) expect((await answer)?.status).toBe(200);
  });
});

/** A request with as many bytes that no version of the protocol knows. */
function withUnknown(name: keyof typeof wires, bytes: number): Uint8Array {
  const { type, wrap } = wires[name];
  if (type === "application/json") {
    const text = new TextDecoder().decode(wrap("hello"));
    return new TextEncoder().encode(
      text.replace('"message":', `"unknown":"${"x".repeat(bytes)}","message":`),
    );
  }
  const field = new BinaryWriter().tag(99, WireType.LengthDelimited).bytes(new Uint8Array(bytes)).finish();
  const message = Buffer.concat([binary("hello"), field]);
  return wrap === binary ? message : encodeEnvelope(0, message);
}

function olderWithUnknown(bytes: number): Uint8Array {
  const message = { messageId: "m", role: "ROLE_USER", content: [{ text: "hello" }] };
  return new TextEncoder().encode(JSON.stringify({ unknown: "x".repeat(bytes), message }));
}

const streamPath = methods.sendStreamingMessage.grpcPath;

/** Each wire with how a stream is opened. */
const streams = {
  "JSON-RPC": {
    path: "/rpc",
    type: "application/json",
    body: () => jsonRpc("hi", "SendStreamingMessage"),
  },
  "HTTP+JSON": { path: "/message:stream", type: "application/json", body: () => json("hi") },
  gRPC: { path: streamPath, type: "application/grpc+proto", body: () => envelope("hi") },
  "gRPC-Web": { path: streamPath, type: "application/grpc-web+proto", body: () => envelope("hi") },
  Connect: { path: streamPath, type: "application/connect+proto", body: () => envelope("hi") },
  "gRPC of 0.3": {
    path: "/a2a.v1.A2AService/SendStreamingMessage",
    type: "application/grpc+proto",
    body: () => olderEnvelope("hi"),
  },
  "HTTP+JSON of 0.3": {
    path: "/v1/message:stream",
    type: "application/json",
    body: () => olderJson("hi"),
  },
} as const;

describe.each(Object.keys(streams) as (keyof typeof streams)[])("a stream that waits, over %s", (name) => {
  it("keeps neither its request nor its first message", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { path, type, body } = streams[name];
    const kept: WeakRef<object>[] = [];
    const service = createFakeService({
      sendStreamingMessage(request) {
        kept.push(new WeakRef(request));
        let taken = 0;
        return {
          [Symbol.asyncIterator]: () => ({
            async next() {
              taken += 1;
              if (taken > 1) return new Promise<never>(() => {});
              const [first = create(StreamResponseSchema)] = fakeEvents();
              kept.push(new WeakRef(first));
              return { done: false, value: first };
            },
          }),
        };
      },
    });
    const url = `http://localhost${path}`;
    const request = memoryRequest({ url, header: { "content-type": type }, body: [body()] });
    const read = async () => {
      const response = await handlerAt(name, path, service)?.(request);
      const chunks = response?.body;
      if (typeof chunks !== "object" || chunks instanceof Uint8Array) throw new Error("it is no stream");
      const iterator = chunks[Symbol.asyncIterator]();
      expect((await iterator.next()).done).toBe(false);
      return { iterator, next: iterator.next() };
    };
    const { iterator } = await read();
    await expect
      .poll(() => {
        collect();
        return kept.map((reference) => reference.deref() === undefined);
      })
      .toEqual([true, true]);
    await iterator.return?.();
  });
});
