// Agents that break gRPC: each call recovers, or ends soon in an error that has a class and a sentence.

import { once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import {
  type AgentClient,
  type ConnectOptions,
  ContentTooLargeError,
  InvalidResponseError,
  UnreachableError,
} from "@a2a-connect/client";
import { parseMessage } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { AgentCardSchema, StreamResponseSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import {
  expectTyped,
  type Failure,
  fails,
  follow,
  getTask,
  limits,
  neverAnswers,
  run,
  soonMs,
} from "./broken-failures.ts";
import { beginGrpc, endGrpc, frame, startBrokenGrpcServer } from "./broken-grpc-server.ts";
import { finishedTask, wholeTask, wholeText } from "./broken-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

type Answer = Parameters<typeof startBrokenGrpcServer>[0];

const failures: readonly Failure<Answer>[] = [
  fails("answers with a web page", getTask, InvalidResponseError, (stream) => {
    stream.respond({ ":status": 200, "content-type": "text/html" });
    stream.end("<!doctype html><h1>Welcome</h1>");
  }),
  fails("answers 502", getTask, UnreachableError, (stream) =>
    stream.respond({ ":status": 502 }, { endStream: true }),
  ),
  fails("ends without a message", getTask, InvalidResponseError, (stream) => {
    beginGrpc(stream);
    endGrpc(stream);
  }),
  fails("ends without trailers", getTask, UnreachableError, (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
    stream.end(frame(whole(finishedTask)));
  }),
  fails("answers with bytes that are no message", getTask, InvalidResponseError, (stream) => {
    beginGrpc(stream);
    stream.write(frame(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0x01])));
    endGrpc(stream);
  }),
  fails("announces four gigabytes", getTask, ContentTooLargeError, (stream) => {
    beginGrpc(stream);
    stream.write(frame(Buffer.alloc(10), 0xffff_ffff));
  }),
  fails("sends very many values in few bytes", getTask, ContentTooLargeError, (stream) => {
    const extensions = Array.from({ length: 125_000 }, () => "");
    beginGrpc(stream);
    stream.write(frame(toBinary(TaskSchema, create(TaskSchema, { artifacts: [{ extensions }] }))));
    endGrpc(stream);
  }),
  fails("sends an object of very many names", getTask, ContentTooLargeError, (stream) => {
    const metadata = Object.fromEntries(Array.from({ length: 16_500 }, (_, at) => [at, true]));
    beginGrpc(stream);
    stream.write(frame(toBinary(TaskSchema, create(TaskSchema, { metadata }))));
    endGrpc(stream);
  }),
  fails("sends a gigabyte", getTask, ContentTooLargeError, async (stream) => {
    beginGrpc(stream);
    stream.write(frame(Buffer.alloc(0), 2 ** 30));
    await pour(stream);
  }),
  fails("compresses without having said how", getTask, InvalidResponseError, (stream) => {
    beginGrpc(stream);
    stream.write(frame(Buffer.alloc(10), 10, 1));
    endGrpc(stream);
  }),
  fails("resets the stream", getTask, UnreachableError, (stream) => stream.close(2)),
  fails("fails with a status that nobody knows", getTask, ConnectError, (stream) => {
    beginGrpc(stream);
    endGrpc(stream, 99, "out%20of%20luck");
  }),
  ...neverAnswers,
  fails("cuts every connection", follow, UnreachableError, (stream) => stream.session?.destroy()),
  fails("sends an event without a payload", run, InvalidResponseError, (stream) =>
    sendEvents(stream, 1, [{}]),
  ),
  fails("sends an event with a payload that nobody knows", run, InvalidResponseError, (stream) => {
    beginGrpc(stream);
    stream.write(frame(Buffer.from([0x9a, 0x06, 0x00]))); // field 99, empty
    endGrpc(stream);
  }),
];

describe("the client says what is wrong with a gRPC server that", () => {
  it.each(failures)("$server", { timeout: soonMs }, async ({ answer, act, expected, options }) => {
    await using server = await startBrokenGrpcServer(answer);
    await using agent = await connect(server.card, options);
    const thrown = await failureOf(act(agent));
    expectTyped(thrown, expected);
    expect(String(thrown)).toMatch(/\S+ \S+ \S+/);
  });
});

describe("the client recovers from a gRPC server that", () => {
  const recovers = (server: string, answer: Answer) => ({ server, answer });
  const recoveries = [
    recovers("closes in the middle of an event", (stream) => {
      beginStream(stream, 1);
      stream.write(frame(event(wholeTask[0] ?? null)));
      stream.write(frame(event(wholeTask[1] ?? null)).subarray(0, 20), () => stream.session?.destroy());
    }),
    recovers("resets the stream between two events", (stream) => {
      beginStream(stream, 1);
      stream.write(frame(event(wholeTask[0] ?? null)), () => stream.close(8));
    }),
    recovers("says that it is going away", (stream) => {
      sendEvents(stream, 1, wholeTask.slice(0, 2), 14);
      stream.session?.goaway();
    }),
    recovers("sends half a UTF-8 character a frame", async (stream) => {
      beginStream(stream, 1);
      for (const each of wholeTask) {
        for (const byte of frame(event(each))) {
          stream.write(Uint8Array.of(byte));
          await new Promise(setImmediate);
        }
      }
      endGrpc(stream);
    }),
    recovers("has a state that nobody knows in between", (stream) => {
      beginStream(stream, 1);
      for (const [index, each] of wholeTask.entries()) {
        if (index === 3) {
          const odd = parseMessage(StreamResponseSchema, each);
          if (odd.payload.case === "statusUpdate" && odd.payload.value.status !== undefined) {
            odd.payload.value.status.state = 77 as TaskState; // what a newer server may send
          }
          stream.write(frame(toBinary(StreamResponseSchema, odd)));
        }
        stream.write(frame(event(each)));
      }
      endGrpc(stream);
    }),
  ];

  it.each(recoveries)("$server", { timeout: soonMs }, async ({ answer }) => {
    await using server = await startBrokenGrpcServer((stream, headers) => {
      const path = headers[":path"] ?? "";
      if (path.endsWith("/SendStreamingMessage")) return answer(stream, headers);
      if (path.endsWith("/GetTask")) {
        beginGrpc(stream);
        stream.write(frame(whole(finishedTask)));
        return endGrpc(stream);
      }
      const after = Number(headers["last-event-id"] ?? 0);
      sendEvents(stream, after + 1, wholeTask.slice(after));
    });
    await using agent = await connect(server.card);
    const result = await agent.run("Tell me.");
    expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
    expect(result.artifact("story").text()).toBe(wholeText);
  });
});

function connect(card: JsonValue, options: ConnectOptions = {}): Promise<AgentClient> {
  return connectAgent(parseMessage(AgentCardSchema, card), { ...limits, ...options });
}

function whole(task: JsonValue): Uint8Array {
  return toBinary(TaskSchema, parseMessage(TaskSchema, task));
}

function event(value: JsonValue): Uint8Array {
  return JSON.stringify(value) === "{}"
    ? toBinary(StreamResponseSchema, create(StreamResponseSchema))
    : toBinary(StreamResponseSchema, parseMessage(StreamResponseSchema, value));
}

function beginStream(stream: ServerHttp2Stream, firstId: number): void {
  stream.respond(
    { ":status": 200, "content-type": "application/grpc+proto", "x-a2a-event-id": String(firstId) },
    { waitForTrailers: true },
  );
}

function sendEvents(
  stream: ServerHttp2Stream,
  firstId: number,
  events: readonly JsonValue[],
  status = 0,
): void {
  beginStream(stream, firstId);
  for (const each of events) stream.write(frame(event(each)));
  endGrpc(stream, status);
}

async function pour(stream: ServerHttp2Stream): Promise<void> {
  const chunk = Buffer.alloc(65_536);
  for (let sent = 0; sent < 2 ** 30 && !stream.destroyed; sent += chunk.length) {
    if (!stream.write(chunk))
      await Promise.race([once(stream, "drain"), once(stream, "close")]).catch(() => {});
  }
  stream.destroy();
}
