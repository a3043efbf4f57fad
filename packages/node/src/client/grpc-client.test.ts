import { once } from "node:events";
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { a2aError, findA2AError } from "@a2a-connect/core";
import { A2AService, StreamResponseSchema, TaskSchema } from "@a2a-connect/proto";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { describe, expect, it } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { grpcTransport } from "./grpc-transport.ts";

type Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

const certificate = createSelfSignedCertificate();

/** A client, and a server that answers its calls, of cleartext HTTP/2 by default. */
async function start(answer: Answer, scheme = "http") {
  const sessions: ServerHttp2Session[] = [];
  const server = scheme === "https" ? createSecureServer(certificate) : createServer();
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {}); // the client may go away
    answer(stream.resume(), headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  const { transport, close } = grpcTransport({ tls: { ca: certificate.cert } }).open({
    url: `${scheme}://127.0.0.1:${port}`,
    fetch,
    interceptors: [],
    maxResponseBytes: 64 * 1024 * 1024,
    connectTimeoutMs: 5_000,
  });
  return {
    client: createClient(A2AService, transport),
    sessions,
    async [Symbol.asyncDispose]() {
      close();
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function begin(stream: ServerHttp2Stream, header: IncomingHttpHeaders = {}): void {
  stream.respond(
    { ":status": 200, "content-type": "application/grpc+proto", ...header },
    { waitForTrailers: true },
  );
}

function end(stream: ServerHttp2Stream, trailer: IncomingHttpHeaders = {}): void {
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", ...trailer }));
  stream.end();
}

function envelope(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([prefix, message]);
}

const task = toBinary(TaskSchema, create(TaskSchema, { id: "t1" }));
const event = toBinary(
  StreamResponseSchema,
  create(StreamResponseSchema, { payload: { case: "task", value: { id: "t1" } } }),
);

async function failureOf(promise: Promise<unknown>): Promise<ConnectError> {
  return ConnectError.from(
    await promise.then(
      () => "none",
      (error: unknown) => error,
    ),
  );
}

it("lets no server push", async () => {
  let isAllowed: boolean | undefined;
  await using server = await start((stream) => {
    isAllowed = stream.pushAllowed;
    begin(stream);
    stream.write(envelope(task));
    end(stream);
  });
  expect((await server.client.getTask({ id: "t1" })).id).toBe("t1");
  expect(isAllowed).toBe(false);
});

it("sends and reads metadata", async () => {
  let seen: IncomingHttpHeaders = {};
  await using server = await start((stream, headers) => {
    seen = headers;
    begin(stream, { "x-head": "1" });
    stream.write(envelope(task));
    end(stream, { "x-tail": "2" });
  });
  const metadata: (string | null)[] = [];
  const answer = await server.client.getTask(
    { id: "t1" },
    {
      headers: { "x-own": "0" },
      timeoutMs: 10_000,
      onHeader: (header) => metadata.push(header.get("x-head")),
      onTrailer: (trailer) => metadata.push(trailer.get("x-tail")),
    },
  );
  expect(answer.id).toBe("t1");
  expect(metadata).toEqual(["1", "2"]);
  expect(seen).toMatchObject({
    ":path": "/lf.a2a.v1.A2AService/GetTask",
    "content-type": "application/grpc+proto",
    te: "trailers",
    "grpc-timeout": "10000m",
    "grpc-accept-encoding": "gzip,br",
    "x-own": "0",
  });
});

for (const [coding, compress] of [
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
] as const) {
  it(`decompresses messages that are marked, with ${coding}`, async () => {
    await using server = await start((stream) => {
      begin(stream, { "grpc-encoding": coding });
      for (const each of [envelope(compress(event), 1), envelope(event), envelope(compress(event), 1)]) {
        stream.write(each);
      }
      end(stream);
    });
    const ids: (string | undefined)[] = [];
    for await (const { payload } of server.client.subscribeToTask({ id: "t1" })) {
      ids.push(payload.case === "task" ? payload.value.id : undefined);
    }
    expect(ids).toEqual(["t1", "t1", "t1"]);
  });
}

it("reads an error with its details from trailers, and from a header alone", async () => {
  const status = Object.fromEntries(
    setTrailerStatus(new Headers(), a2aError("TASK_NOT_FOUND", "no such task")),
  );
  await using server = await start((stream, headers) => {
    if (headers[":path"]?.endsWith("GetTask")) {
      begin(stream);
      return end(stream, status);
    }
    stream.respond({ ":status": 200, "content-type": "application/grpc", ...status }, { endStream: true });
  });
  for (const call of [
    () => server.client.getTask({ id: "t1" }),
    () => server.client.cancelTask({ id: "t1" }),
    () => server.client.subscribeToTask({ id: "t1" })[Symbol.asyncIterator]().next(),
  ]) {
    const error = await failureOf(call());
    expect([error.code, error.isWireError, findA2AError(error)?.reason]).toEqual([
      Code.NotFound,
      true,
      "TASK_NOT_FOUND",
    ]);
  }
});

for (const [what, messages, code] of [
  ["no message", [], Code.Unimplemented],
  ["two messages", [task, task], Code.Unimplemented],
] as const) {
  it(`refuses ${what} in answer to a call of one`, async () => {
    await using server = await start((stream) => {
      begin(stream);
      for (const each of messages) stream.write(envelope(each));
      end(stream);
    });
    expect((await failureOf(server.client.getTask({ id: "t1" }))).code).toBe(code);
  });
}

it("tells the server with CANCEL that a call has ended by its time limit or its signal", async () => {
  const codes: Promise<number | undefined>[] = [];
  const caller = new AbortController();
  await using server = await start((stream) => {
    codes.push(once(stream, "close").then(() => stream.rstCode));
    begin(stream);
    stream.write(envelope(event));
  });
  const late = await failureOf(server.client.getTask({ id: "t1" }, { timeoutMs: 50 }));
  expect(late.code).toBe(Code.DeadlineExceeded);
  const stream = server.client
    .subscribeToTask({ id: "t1" }, { signal: caller.signal })
    [Symbol.asyncIterator]();
  await stream.next();
  setImmediate(() => caller.abort());
  expect((await failureOf(stream.next())).code).toBe(Code.Canceled);
  expect(await Promise.all(codes)).toEqual([8, 8]);
});

it("finishes a call on a connection that is going away, and makes the next one on another", async () => {
  const goOn = createGate();
  await using server = await start((stream, headers) => {
    begin(stream);
    if (headers[":path"]?.endsWith("GetTask")) {
      stream.write(envelope(task));
      return end(stream);
    }
    stream.write(envelope(event));
    void goOn.opened.then(() => {
      stream.write(envelope(event));
      end(stream);
    });
  });
  const running = server.client.subscribeToTask({ id: "t1" })[Symbol.asyncIterator]();
  await running.next();
  const [session] = server.sessions;
  session?.goaway();
  await new Promise((resolve) => session?.ping(resolve)); // the client has read what came before it
  expect((await server.client.getTask({ id: "t1" })).id).toBe("t1");
  goOn.open();
  expect((await running.next()).value?.payload.case).toBe("task");
  expect((await running.next()).done).toBe(true);
});

it("reads no further than a slow reader takes", async () => {
  const total = 16 * 1024 * 1024;
  let written = 0;
  const full = createGate();
  const large = create(StreamResponseSchema, {
    payload: {
      case: "message",
      value: { messageId: "m", parts: [{ content: { case: "text", value: "x".repeat(100_000) } }] },
    },
  });
  const bytes = envelope(toBinary(StreamResponseSchema, large));
  await using server = await start(async (stream) => {
    begin(stream);
    while (written < total) {
      written += bytes.byteLength;
      if (!stream.write(bytes)) {
        full.open();
        await once(stream, "drain");
      }
    }
    end(stream);
  });
  let received = 0;
  for await (const _ of server.client.subscribeToTask({ id: "t1" })) {
    received += 1;
    if (received === 1) {
      await full.opened;
      expect(written).toBeLessThan(total);
    }
  }
  expect(received).toBe(Math.ceil(total / bytes.byteLength));
});

const endings: Readonly<Record<string, (session: Http2Session) => void>> = {
  "has closed the connection": (session) => session.close(),
  "has ended it with an error": (session) => {
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.close();
  },
};

describe.each(["http", "https"])("%s: an answer that has arrived is read to its end", (scheme) => {
  it.each(Object.entries(endings))("after the server %s", async (_, endConnection) => {
    const events = 1_000; // the client pauses the stream behind 250 of them
    await using server = await start(async (stream) => {
      const { session } = stream;
      begin(stream);
      for (let count = 0; count < events; count += 1) {
        stream.write(envelope(event)); // in a frame of its own
        await nextTurn();
      }
      end(stream);
      stream.once("wantTrailers", () => setImmediate(() => session && endConnection(session))); // behind them
    }, scheme);
    let received = 0;
    for await (const _ of server.client.subscribeToTask({ id: "t1" })) {
      received += 1;
      await nextTurn();
      await nextTurn();
    }
    expect(received).toBe(events);
  });

  it("as a header alone, after the server has ended the connection with an error", async () => {
    const status = Object.fromEntries(
      setTrailerStatus(new Headers(), a2aError("TASK_NOT_FOUND", "no such task")),
    );
    await using server = await start((stream) => {
      const fields = { ":status": 200, "content-type": "application/grpc", ...status };
      stream.respond(fields, { endStream: true });
      stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }, scheme);
    expect((await failureOf(server.client.getTask({ id: "t1" }))).code).toBe(Code.NotFound);
  });
});

it("retires the connection of a call that was given up, and not the one that has replaced it", async () => {
  await using server = await start((stream, headers) => {
    begin(stream);
    if (headers[":path"]?.endsWith("/SubscribeToTask") === true) {
      stream.session?.goaway();
      stream.write(envelope(event));
    } else {
      stream.write(envelope(task));
      end(stream);
    }
  });
  const leave = new AbortController();
  const silent = server.client
    .subscribeToTask({ id: "t1" }, { signal: leave.signal })
    [Symbol.asyncIterator]();
  await silent.next();
  await server.client.getTask({ id: "t1" });
  expect(server.sessions).toHaveLength(2);
  leave.abort(new ConnectError("too late", Code.DeadlineExceeded));
  expect((await failureOf(silent.next())).code).toBe(Code.DeadlineExceeded);
  await server.client.getTask({ id: "t1" });
  expect(server.sessions).toHaveLength(2);
});

it("begins no call on the connection of a call that was given up", async () => {
  await using server = await start((stream, headers) => {
    begin(stream);
    if (headers[":path"]?.endsWith("/SubscribeToTask") === true) {
      stream.write(envelope(event));
    } else {
      stream.write(envelope(task));
      end(stream);
    }
  });
  const leave = new AbortController();
  const silent = server.client
    .subscribeToTask({ id: "t1" }, { signal: leave.signal })
    [Symbol.asyncIterator]();
  await silent.next();
  leave.abort(new ConnectError("too late", Code.DeadlineExceeded));
  await failureOf(silent.next());
  await server.client.getTask({ id: "t1" });
  expect(server.sessions).toHaveLength(2);
});
