import { setImmediate as nextTurn } from "node:timers/promises";
import { Health, HealthCheckRequestSchema } from "@a2a-connect/proto/grpc/health/v1";
import { ServerReflectionRequestSchema } from "@a2a-connect/proto/grpc/reflection/v1";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalHandler } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createFakeService } from "../../test-support/fake-service.ts";
import { memoryRequest, responseText } from "../../test-support/memory-http.ts";
import { createRpcHandlers } from "./handlers.ts";
import { registerHealth } from "./health.ts";
import { registerReflection } from "./reflection.ts";

/** The chunks that Connect's handlers got of the bodies of requests. */
const got: Uint8Array[] = [];

function listening(handler: UniversalHandler): UniversalHandler {
  return Object.assign((request: Parameters<UniversalHandler>[0]) => {
    const body = request.body as AsyncIterable<Uint8Array>; // as `HttpRequest` has it
    return handler({ ...request, body: listenTo(body) });
  }, handler);
}

async function* listenTo(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    got.push(chunk);
    yield chunk;
  }
}

const handlers = createRpcHandlers(
  createFakeService(),
  { compressions: [compressionGzip], compressMinBytes: 1e6 },
  (router) => {
    router.handlers.push = (...added) => Array.prototype.push.apply(router.handlers, added.map(listening));
    registerHealth(router, { serving: () => true });
    registerReflection(router, { services: [Health] });
  },
);

const check = "/grpc.health.v1.Health/Check";
const watch = "/grpc.health.v1.Health/Watch";
const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

const leaving = new AbortController();
afterAll(() => leaving.abort());

async function post(
  path: string,
  type: string,
  body: AsyncIterable<Uint8Array>,
  coding = "identity",
  more: Readonly<Record<string, string>> = {},
) {
  got.splice(0);
  const handler = handlers.get(path) ?? expect.fail(`nothing at ${path}`);
  const header = {
    ...more,
    "content-type": type,
    [type.includes("grpc")
      ? "grpc-encoding"
      : type.includes("+")
        ? "connect-content-encoding"
        : "content-encoding"]: coding,
  };
  return await handler({ ...memoryRequest({ header, signal: leaving.signal }), httpVersion: "2.0", body });
}

async function* inChunks(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}

/** The answers of reflection, one by one. */
function answersOf({ body }: Awaited<ReturnType<typeof post>>): AsyncIterator<Uint8Array> {
  if (typeof body !== "object" || body instanceof Uint8Array) return expect.fail("it is a stream");
  return body[Symbol.asyncIterator]();
}

const noise = Array.from({ length: 10_000 }, (_, at) =>
  String.fromCharCode(33 + ((at * at * 7919) % 89)),
).join("");
const health = create(HealthCheckRequestSchema, { service: noise });
const question = toBinary(
  ServerReflectionRequestSchema,
  create(ServerReflectionRequestSchema, { host: noise, messageRequest: { case: "listServices", value: "" } }),
);

describe("of a message in chunks of one byte, Connect gets one chunk, uncompressed", () => {
  const encoder = new TextEncoder();
  const proto = toBinary(HealthCheckRequestSchema, health);
  const json = encoder.encode(toJsonString(HealthCheckRequestSchema, health));
  const calls = [
    [check, "application/grpc+proto", proto],
    [check, "application/grpc+json", json],
    [check, "application/grpc-web+proto", proto],
    [check, "application/grpc-web", proto],
    [check, "Application/Proto", proto],
    [check, "application/json; charset=utf-8", json],
    [watch, "application/grpc", proto],
    [watch, "application/grpc-web+json", json],
    [watch, "application/connect+proto", proto],
    [watch, "application/connect+json", json],
    [reflection, "application/grpc", question],
    [reflection, "application/grpc-web+proto", question],
    [reflection, "application/connect+proto", question],
  ] as const;

  for (const [path, type, message] of calls) {
    for (const coding of ["identity", "gzip"] as const) {
      it(`${path}, ${type}, ${coding}`, async () => {
        const data =
          coding === "gzip"
            ? new Uint8Array(await compressionGzip.compress(new Uint8Array(message)))
            : message;
        const isUnary = /^application\/(?:proto|json)/i.test(type);
        const body = isUnary ? data : encodeEnvelope(coding === "gzip" ? 1 : 0, data);
        const response = await post(path, type, inChunks(body, 1), coding);
        if (path === check) {
          expect(await responseText(response)).toMatch(/there(?: |%20)is(?: |%20)no|^$/);
          if (isUnary) expect(response.status).toBe(404);
        } else {
          const answers = answersOf(response);
          expect((await answers.next()).done).toBe(false);
        }
        expect(got.length).toBe(1);
        expect(new Uint8Array(got[0] ?? [])).toEqual(isUnary ? message : encodeEnvelope(0, message));
      });
    }
  }
});

describe("questions in one stream", () => {
  const ask = encodeEnvelope(0, question);

  it("are answered one by one, also when a chunk has several of them", async () => {
    let sent = 0;
    async function* body() {
      for (const chunk of [joined(ask, ask, ask.subarray(0, 3)), ask.subarray(3), ask]) {
        sent += 1;
        yield chunk;
      }
    }
    const answers = answersOf(await post(reflection, "application/grpc", body()));
    const sentBefore: number[] = [];
    for (let next = await answers.next(); next.done !== true; next = await answers.next())
      sentBefore.push(sent);
    expect(sentBefore).toEqual([1, 1, 2, 3]);
  });

  it("fail when the stream ends within one", async () => {
    const response = await post(reflection, "application/grpc", inChunks(joined(ask, ask.subarray(0, 9)), 7));
    const answers = answersOf(response);
    expect((await answers.next()).done).toBe(false);
    expect((await answers.next()).done).toBe(true);
    expect(response.trailer?.get("grpc-status")).toBe(String(Code.InvalidArgument));
    expect(response.trailer?.get("grpc-message")).toBe("protocol error: incomplete envelope");
  });
});

it.each([
  [check, "application/grpc-web", 0x80],
  [watch, "application/connect+proto", 2],
  [reflection, "application/grpc-web", 0x80],
])("an envelope that is marked as the end of a response is refused: %s, %s", async (path, type, flags) => {
  const end = encodeEnvelope(flags, new Uint8Array());
  const response = await post(path, type, inChunks(joined(...Array(1_000).fill(end)), 1_000));
  expect(await responseText(response)).toMatch(/grpc-status: 3|invalid_argument/);
  expect(got.length).toBe(0);
});

it.each([
  ["application/grpc-web", { "grpc-timeout": "8760H" }],
  ["application/connect+proto", { "connect-timeout-ms": "2147483648" }],
  ["application/grpc-web", { "connect-timeout-ms": "9999999999", "grpc-timeout": "8760H" }],
])("a stream goes on whose deadline is later than a timer can be: %s, %s", async (type, timeout) => {
  using timers = vi.spyOn(globalThis, "setTimeout");
  const body = inChunks(encodeEnvelope(0, new Uint8Array()), 10);
  const answers = answersOf(await post(watch, type, body, "identity", timeout));
  expect((await answers.next()).value?.[0]).toBe(0);
  const next = answers.next().then(({ value }) => value?.[0]);
  expect(await Promise.race([next, nextTurn("still open")])).toBe("still open");
  expect(timers.mock.calls.filter(([, ms]) => (ms ?? 0) >= 2 ** 31)).toEqual([]);
});

describe("a malformed message is the caller's mistake", () => {
  const garbage = Uint8Array.of(0xff, 0xff, 0x0f);
  const zipped = compressionGzip.compress(garbage);
  const cut = compressionGzip.compress(new Uint8Array(question)).then((bytes) => bytes.subarray(0, -9));
  const wires = [
    [check, "application/proto"],
    [check, "application/grpc+proto"],
    [check, "application/grpc-web"],
    [watch, "application/connect+proto"],
    [watch, "application/grpc"],
    [reflection, "application/grpc"],
    [reflection, "application/connect+proto"],
  ] as const;
  const wrongs = [
    ["of another type", garbage, "identity"],
    ["of another type, compressed", zipped, "gzip"],
    ["that is not compressed as it says", garbage, "gzip"],
    ["whose compression is cut off", cut, "gzip"],
  ] as const;

  async function refusal(path: string, type: string, data: Uint8Array, coding: string) {
    const isUnary = type === "application/proto";
    const body = isUnary ? data : encodeEnvelope(coding === "gzip" ? 1 : 0, data);
    const response = await post(path, type, inChunks(body, 2), coding);
    const text = decodeURIComponent(await responseText(response));
    const trailer = response.trailer;
    const said = `${text} grpc-status: ${trailer?.get("grpc-status")} ${trailer?.get("grpc-message")}`;
    expect(said).toMatch(/grpc-status: 3\b|"invalid_argument"/);
    expect(said).not.toMatch(/parse|illegal|premature|varint|decompress|readMaxBytes/);
    return { status: response.status, said };
  }

  for (const [path, type] of wires) {
    for (const [how, data, coding] of wrongs) {
      it(`${path}, ${type}: one ${how}`, async () => {
        const { status, said } = await refusal(path, type, await data, coding);
        expect(status).toBe(type === "application/proto" ? 400 : 200);
        expect(said).toMatch(
          /the request (?:body )?is not (?:a )?valid (?:gzip|[A-Za-z]+Request in protobuf)/,
        );
      });
    }
  }

  it.each(wires.slice(1))(
    "%s, %s: one with the flag of a compression that no header names",
    async (path, type) => {
      const body = inChunks(encodeEnvelope(1, await zipped), 2);
      const response = await post(path, type, body);
      const text = decodeURIComponent(await responseText(response));
      expect(text + response.trailer?.get("grpc-message")).toMatch(
        /compressed, but its header does not say how/,
      );
    },
  );
});

describe("a message of more than 64 KiB", () => {
  it.each([
    [check, "application/grpc+proto"],
    [watch, "application/connect+proto"],
    [reflection, "application/grpc-web+proto"],
  ])("is refused at its prefix: %s, %s", async (path, type) => {
    const response = await post(path, type, inChunks(encodeEnvelope(0, new Uint8Array(65_537)), 10));
    const text = await responseText(response);
    expect(text + response.trailer?.get("grpc-message")).toMatch(/message(?: |%20)size(?: |%20)65537/);
    expect(got.length).toBe(1);
    expect(got[0]?.length).toBe(5);
  });

  it("is refused by Connect without an envelope", async () => {
    let sent = 0;
    async function* body() {
      for (; sent < 100_000; sent += 1_000) yield new Uint8Array(1_000);
    }
    const response = await post(check, "application/proto", body());
    expect([response.status, await responseText(response)]).toEqual([
      429,
      expect.stringContaining("resource_exhausted"),
    ]);
    expect(sent).toBeLessThan(67_000);
    expect(got.length).toBe(0);
  });
});
