import type { RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { text } from "@a2a-connect/core";
import { connectBinding, formatMessage, grpcWebBinding } from "@a2a-connect/core/internal";
import {
  A2AService,
  type ArtifactSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
} from "@a2a-connect/proto";
import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startHttpServer } from "../../test-support/http-server.ts";
import { rejectedWith } from "../../test-support/outcomes.ts";
import { webTransports } from "./web-transports.ts";

const limit = 64 * 1024;
const isStream = /SubscribeToTask|event-stream/;

for (const wire of wires()) {
  describe(`the ${wire.binding} transport`, () => {
    it("calls an agent", async () => {
      await using server = await serve((_, response) => wire.answer(response, taskOf("hello")));
      expect(await server.client(wire).getTask({ id: "t1" })).toMatchObject({ id: "t1" });
      await using streaming = await serve((_, response) =>
        wire.stream(response, [eventOf("a"), eventOf("b")]),
      );
      expect(await collect(streaming.client(wire).subscribeToTask({ id: "t1" }))).toHaveLength(2);
    });

    it("is Unavailable, with the platform's error as its cause, when nobody listens", async () => {
      const server = await serve(() => {});
      const client = server.client(wire);
      await server[Symbol.asyncDispose]();
      const error = await connectErrorOf(client.getTask({ id: "t1" }));
      expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: "the server could not be reached" });
      expect(error.cause).toBeInstanceOf(TypeError); // fetch's own
      expect((await connectErrorOf(collect(client.subscribeToTask({ id: "t1" })))).code).toBe(
        Code.Unavailable,
      );
    });

    it("is Unavailable when the server closes before it answers", async () => {
      await using server = await serve((_, response) => response.destroy());
      expect((await connectErrorOf(server.client(wire).getTask({ id: "t1" }))).code).toBe(Code.Unavailable);
    });

    it("is Unavailable when a response is cut off", async () => {
      await using server = await serve((_, response) => wire.answer(cutting(response, 9), taskOf("hello")));
      expect((await connectErrorOf(server.client(wire).getTask({ id: "t1" }))).code).toBe(Code.Unavailable);
    });

    it("gives what came of a stream that is cut off, then is Unavailable", async () => {
      await using server = await serve((_, response) => {
        wire.head(response);
        response.write(wire.event(eventOf("a")), () => {
          response.write(wire.event(eventOf("b")).subarray(0, 9), () => response.destroy());
        });
      });
      const seen: StreamResponse[] = [];
      const error = await connectErrorOf(collect(server.client(wire).subscribeToTask({ id: "t1" }), seen));
      expect(error.code).toBe(Code.Unavailable);
      expect(seen).toHaveLength(1);
    });

    it("does not follow redirects", async () => {
      let reached = false;
      await using other = await serve((_, response) => {
        reached = true;
        response.end();
      });
      await using server = await serve((_, response) =>
        response.writeHead(307, { location: `${other.url}/x?secret` }).end(),
      );
      const error = await connectErrorOf(server.client(wire).getTask({ id: "t1" }));
      expect(error.rawMessage).toBe(`the server redirects to ${other.url}/x, which is not followed`);
      expect((await connectErrorOf(collect(server.client(wire).subscribeToTask({ id: "t1" })))).code).toBe(
        Code.Unavailable,
      );
      expect(reached).toBe(false);
    });

    it.each(["text/html", "application/json"])("takes status 429 in %s for a rate limit", async (type) => {
      await using server = await serve((_, response) =>
        response.writeHead(429, { "content-type": type, "retry-after": "3" }).end("{}"),
      );
      const client = server.client(wire);
      const calls = [client.getTask({ id: "t1" }), collect(client.subscribeToTask({ id: "t1" }))];
      for (const error of await Promise.all(calls.map(connectErrorOf))) {
        expect(error).toMatchObject({
          code: Code.ResourceExhausted,
          isWireError: true,
          cause: { status: 429 },
        });
        expect(error.metadata.get("retry-after")).toBe("3");
      }
    });

    it("refuses a response over the limit", async () => {
      await using server = await serve((_, response) => wire.answer(response, taskOf("x".repeat(limit))));
      expect(await connectErrorOf(server.client(wire).getTask({ id: "t1" }))).toMatchObject({
        code: Code.ResourceExhausted,
        cause: { limit },
      });
    });

    it("refuses very many values in few bytes before it builds them", async () => {
      const extensions = Array.from({ length: 130_000 }, () => "");
      const artifact = { artifactId: "a1", extensions };
      await using server = await serve(({ url = "" }, response) =>
        isStream.test(url) || isStream.test(`${response.req.headers.accept}`)
          ? wire.stream(response, [updateOf(artifact)])
          : wire.answer(response, create(TaskSchema, { id: "t1", artifacts: [artifact] })),
      );
      const client = server.client(wire, 2 ** 20);
      const calls = [client.getTask({ id: "t1" }), collect(client.subscribeToTask({ id: "t1" }))];
      for (const error of await Promise.all(calls.map(connectErrorOf))) {
        expect(error).toMatchObject({ code: Code.ResourceExhausted, cause: { limit: 2 ** 20 } });
      }
    });

    it("counts a response after decompression", async () => {
      await using server = await serve((_, response) => {
        const plain = recording(response);
        response.setHeader("content-encoding", "gzip");
        wire.answer(plain.response, taskOf("x".repeat(limit)));
        const packed = gzipSync(plain.written());
        expect(packed.byteLength).toBeLessThan(limit / 10);
        response.end(packed);
      });
      expect((await connectErrorOf(server.client(wire).getTask({ id: "t1" }))).code).toBe(
        Code.ResourceExhausted,
      );
    });

    it("limits the messages of a stream, not the stream", async () => {
      const fits = Array.from({ length: 8 }, () => eventOf("x".repeat(limit / 2)));
      await using server = await serve((_, response) =>
        wire.stream(response, [...fits, eventOf("x".repeat(limit))]),
      );
      const seen: StreamResponse[] = [];
      const error = await connectErrorOf(collect(server.client(wire).subscribeToTask({ id: "t1" }), seen));
      expect(error.code).toBe(Code.ResourceExhausted);
      expect(seen).toHaveLength(8);
    });

    it("reads a message that comes byte by byte", async () => {
      await using server = await serve((_, response) => {
        wire.head(response);
        response.cork();
        for (const byte of wire.event(eventOf("x".repeat(limit / 2)))) response.write(Uint8Array.of(byte));
        response.uncork();
        response.end(wire.end());
      });
      expect(await collect(server.client(wire).subscribeToTask({ id: "t1" }))).toHaveLength(1);
    });

    it("gives up a call whose signal is aborted", async () => {
      const { promise: called, resolve: call } = Promise.withResolvers<void>();
      await using server = await serve(() => call());
      const controller = new AbortController();
      const answer = connectErrorOf(server.client(wire).getTask({ id: "t1" }, { signal: controller.signal }));
      await called;
      controller.abort();
      expect((await answer).code).toBe(Code.Canceled);
    });

    it("cancels what is in flight when it is closed, and what comes later", async () => {
      const { promise: called, resolve: call } = Promise.withResolvers<void>();
      await using server = await serve(() => call());
      const { client, close } = server.open(wire);
      const answer = connectErrorOf(client.getTask({ id: "t1" }));
      await called;
      close();
      expect(await answer).toMatchObject({ code: Code.Canceled, rawMessage: "the client was closed" });
      expect((await connectErrorOf(client.getTask({ id: "t1" }))).code).toBe(Code.Canceled);
    });

    for (const url of ["localhost:4000", "ftp://a.example/", "/rpc", ""]) {
      it(`opens no ${JSON.stringify(url)}`, () => {
        expect(() => transportOf(wire.binding).open({ ...settings, url })).toThrow(
          `${JSON.stringify(url)} is not an absolute http or https URL`,
        );
      });
    }
  });
}

for (const wire of wires().filter(({ end }) => end().byteLength > 0)) {
  describe(`the ${wire.binding} transport`, () => {
    it("refuses a message for the size that it announces, before it comes", async () => {
      await using server = await serve((_, response) => {
        wire.head(response);
        response.write(Uint8Array.of(0, 0x40, 0, 0, 0)); // 1 GiB, of which nothing follows
      });
      const error = await connectErrorOf(collect(server.client(wire).subscribeToTask({ id: "t1" })));
      expect(error).toMatchObject({
        code: Code.ResourceExhausted,
        rawMessage: `the response is larger than the limit of ${limit} bytes`,
      });
    });

    it("is Unavailable when a stream ends without saying so", async () => {
      await using server = await serve((_, response) => {
        wire.head(response);
        response.end(wire.event(eventOf("a")));
      });
      const error = await connectErrorOf(collect(server.client(wire).subscribeToTask({ id: "t1" })));
      expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: "the response was cut off" });
    });
  });
}

/** One wire, as a server writes it. */
interface WireForm {
  readonly binding: string;
  answer(response: ServerResponse, task: Task): void;
  stream(response: ServerResponse, events: readonly StreamResponse[]): void;
  /** The head of a stream. */
  head(response: ServerResponse): void;
  event(event: StreamResponse): Uint8Array;
  end(): Uint8Array;
}

function wires(): readonly WireForm[] {
  const rpcTask = (task: Task) => ({ jsonrpc: "2.0", id: 1, result: formatMessage(TaskSchema, task) });
  const rpcEvent = (event: StreamResponse) => ({
    jsonrpc: "2.0",
    id: 1,
    result: formatMessage(StreamResponseSchema, event),
  });
  const endStream = envelope(2, utf8("{}"));
  const trailers = envelope(0x80, utf8("grpc-status: 0\r\n"));
  return [
    jsonWire("JSONRPC", rpcTask, rpcEvent),
    jsonWire(
      "HTTP+JSON",
      (task) => formatMessage(TaskSchema, task),
      (event) => formatMessage(StreamResponseSchema, event),
    ),
    binaryWire(connectBinding, "application/proto", "application/connect+proto", endStream, (task) =>
      binary(TaskSchema, task),
    ),
    binaryWire(grpcWebBinding, "application/grpc-web+proto", "application/grpc-web+proto", trailers, (task) =>
      Buffer.concat([envelope(0, binary(TaskSchema, task)), trailers]),
    ),
  ];
}

function jsonWire(
  binding: string,
  formatTask: (task: Task) => unknown,
  formatEvent: (event: StreamResponse) => unknown,
): WireForm {
  const event = (each: StreamResponse) => utf8(`data: ${JSON.stringify(formatEvent(each))}\n\n`);
  return streaming({
    binding,
    answer: (response, task) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(formatTask(task)));
    },
    head: (response) => void response.writeHead(200, { "content-type": "text/event-stream" }),
    event,
    end: () => new Uint8Array(),
  });
}

function binaryWire(
  binding: string,
  unaryType: string,
  streamType: string,
  end: Uint8Array,
  formatTask: (task: Task) => Uint8Array,
): WireForm {
  return streaming({
    binding,
    answer: (response, task) => {
      response.setHeader("content-type", unaryType);
      response.end(formatTask(task));
    },
    head: (response) => void response.writeHead(200, { "content-type": streamType }),
    event: (event) => envelope(0, binary(StreamResponseSchema, event)),
    end: () => end,
  });
}

function streaming(wire: Omit<WireForm, "stream">): WireForm {
  return {
    ...wire,
    stream(response, events) {
      wire.head(response);
      response.end(Buffer.concat([...events.map(wire.event), wire.end()]));
    },
  };
}

const settings = {
  fetch: globalThis.fetch,
  interceptors: [],
  maxResponseBytes: limit,
  connectTimeoutMs: 1_000,
};

function transportOf(binding: string) {
  const found = webTransports.find((each) => each.binding === binding);
  if (found === undefined) throw new Error(`there is no ${binding}`);
  return found;
}

async function serve(listener: RequestListener) {
  const server = await startHttpServer((request, response) => {
    request.resume().on("end", () => listener(request, response));
  });
  const open = ({ binding }: WireForm, maxResponseBytes = limit) => {
    const { transport, close } = transportOf(binding).open({
      ...settings,
      maxResponseBytes,
      url: server.url,
    });
    return { client: createClient(A2AService, transport), close };
  };
  return { ...server, open, client: (...args: Parameters<typeof open>) => open(...args).client };
}

/** Sends the head and a beginning of what it is given to send, and closes the connection. */
function cutting(response: ServerResponse, length: number): ServerResponse {
  const plain = recording(response, (all) => {
    response.setHeader("content-length", all.byteLength);
    response.write(all.subarray(0, length), () => response.destroy());
  });
  return plain.response;
}

/** A response that keeps what is written in place of sending it. */
function recording(response: ServerResponse, onEnd: (all: Uint8Array) => void = () => {}) {
  let all: Uint8Array = new Uint8Array();
  const recorder = new Proxy(response, {
    get(target, name) {
      if (name === "end") {
        return (content: string | Uint8Array) => {
          all = typeof content === "string" ? utf8(content) : content;
          onEnd(all);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { response: recorder, written: () => all };
}

const connectErrorOf = (call: Promise<unknown>) => rejectedWith(call, ConnectError);

async function collect(
  events: AsyncIterable<StreamResponse>,
  seen: StreamResponse[] = [],
): Promise<StreamResponse[]> {
  for await (const event of events) seen.push(event);
  return seen;
}

function taskOf(words: string): Task {
  return create(TaskSchema, {
    id: "t1",
    contextId: "c1",
    artifacts: [{ artifactId: "a1", parts: [text(words)] }],
  });
}

function eventOf(words: string): StreamResponse {
  return updateOf({ artifactId: "a1", parts: [text(words)] });
}

function updateOf(artifact: MessageInitShape<typeof ArtifactSchema>): StreamResponse {
  const value = { taskId: "t1", contextId: "c1", artifact };
  return create(StreamResponseSchema, { payload: { case: "artifactUpdate", value } });
}

function binary<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): Uint8Array {
  return toBinary(desc, message);
}

function envelope(flags: number, content: Uint8Array): Uint8Array {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(content.byteLength, 1);
  return Buffer.concat([prefix, content]);
}

function utf8(words: string): Uint8Array {
  return new TextEncoder().encode(words);
}
