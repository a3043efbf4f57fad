// Agents that break gRPC: each call recovers, or ends soon in an error that has a class and a sentence.

import { once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import {
  type AgentClient,
  AgentError,
  type ConnectOptions,
  ContentTooLargeError,
  InvalidResponseError,
  SendUncertainError,
  UnreachableError,
} from "@a2a-connect/client";
import { parseMessage } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { AgentCardSchema, StreamResponseSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { beginGrpc, endGrpc, frame, startBrokenGrpcServer } from "./broken-grpc-server.ts";
import { finishedTask, taskId, wholeTask, wholeText } from "./broken-task.ts";
import { collect, failureOf } from "./outcomes.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const limits: ConnectOptions = {
  connectTimeoutMs: 1_000,
  requestTimeoutMs: 300,
  idleTimeoutMs: 300,
  maxResponseBytes: 256 * 1024,
  retry: { attempts: 2, initialDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 600 },
};

type Answer = Parameters<typeof startBrokenGrpcServer>[0];

interface Failure {
  readonly server: string;
  readonly answer: Answer;
  readonly act: (agent: AgentClient) => Promise<unknown>;
  /** Default InvalidResponseError. ConnectError is what the server itself says. */
  readonly error?: abstract new (
    ...args: never[]
  ) => Error;
}

const getTask = (agent: AgentClient): Promise<unknown> => agent.getTask(taskId);
const run = (agent: AgentClient): Promise<unknown> => agent.run("Tell me.");
const follow = (agent: AgentClient): Promise<unknown> => collect(agent.follow(taskId, { after: 0 }));

const failures: readonly Failure[] = [
  {
    server: "answers with a web page",
    answer: (stream) => {
      stream.respond({ ":status": 200, "content-type": "text/html" });
      stream.end("<!doctype html><h1>Welcome</h1>");
    },
    act: getTask,
  },
  {
    server: "answers 502",
    answer: (stream) => stream.respond({ ":status": 502 }, { endStream: true }),
    act: getTask,
    error: UnreachableError,
  },
  {
    server: "ends without a message",
    answer: (stream) => {
      beginGrpc(stream);
      endGrpc(stream);
    },
    act: getTask,
  },
  {
    server: "ends without trailers",
    answer: (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
      stream.end(frame(whole(finishedTask)));
    },
    act: getTask,
    error: UnreachableError,
  },
  {
    server: "answers with bytes that are no message",
    answer: (stream) => {
      beginGrpc(stream);
      stream.write(frame(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0x01])));
      endGrpc(stream);
    },
    act: getTask,
  },
  {
    server: "announces four gigabytes",
    answer: (stream) => {
      beginGrpc(stream);
      stream.write(frame(Buffer.alloc(10), 0xffff_ffff));
    },
    error: ContentTooLargeError,
    act: getTask,
  },
  {
    server: "sends a gigabyte",
    answer: async (stream) => {
      beginGrpc(stream);
      stream.write(frame(Buffer.alloc(0), 2 ** 30));
      await pour(stream);
    },
    error: ContentTooLargeError,
    act: getTask,
  },
  {
    server: "compresses without having said how",
    answer: (stream) => {
      beginGrpc(stream);
      stream.write(frame(Buffer.alloc(10), 10, 1));
      endGrpc(stream);
    },
    act: getTask,
  },
  {
    server: "resets the stream",
    answer: (stream) => stream.close(2),
    act: getTask,
    error: UnreachableError,
  },
  {
    server: "fails with a status that nobody knows",
    answer: (stream) => {
      beginGrpc(stream);
      endGrpc(stream, 99, "out%20of%20luck");
    },
    act: getTask,
    error: ConnectError,
  },
  { server: "never answers", answer: () => {}, act: getTask, error: UnreachableError },
  { server: "never answers a message", answer: () => {}, act: run, error: SendUncertainError },
  { server: "never answers a subscription", answer: () => {}, act: follow, error: UnreachableError },
  {
    server: "cuts every connection",
    answer: (stream) => stream.session?.destroy(),
    act: follow,
    error: UnreachableError,
  },
  {
    server: "sends an event without a payload",
    answer: (stream) => sendEvents(stream, 1, [{}]),
    act: run,
    error: InvalidResponseError,
  },
  {
    server: "sends an event with a payload that nobody knows",
    answer: (stream) => {
      beginGrpc(stream);
      stream.write(frame(Buffer.from([0x9a, 0x06, 0x00]))); // field 99, empty
      endGrpc(stream);
    },
    act: run,
    error: InvalidResponseError,
  },
];

describe("the client says what is wrong with a gRPC server that", () => {
  it.each(failures)("$server", { timeout: 4_000 }, async ({ answer, act, error = InvalidResponseError }) => {
    await using server = await startBrokenGrpcServer(answer);
    await using agent = await connect(server.card);
    const thrown = await failureOf(act(agent));
    expect(thrown).toBeInstanceOf(error);
    expect(String(thrown)).toMatch(/\S+ \S+ \S+/);
    if (thrown instanceof AgentError) {
      expect(thrown.hint ?? "", `the hint of: ${thrown.message}`).toMatch(/\S+ \S+ \S+/);
    }
  });
});

describe("the client recovers from a gRPC server that", () => {
  const recoveries: readonly (readonly [string, Answer])[] = [
    [
      "closes in the middle of an event",
      (stream) => {
        beginStream(stream, 1);
        stream.write(frame(event(wholeTask[0] ?? null)));
        stream.write(frame(event(wholeTask[1] ?? null)).subarray(0, 20), () => stream.session?.destroy());
      },
    ],
    [
      "resets the stream between two events",
      (stream) => {
        beginStream(stream, 1);
        stream.write(frame(event(wholeTask[0] ?? null)), () => stream.close(8));
      },
    ],
    [
      "says that it is going away",
      (stream) => {
        sendEvents(stream, 1, wholeTask.slice(0, 2), 14);
        stream.session?.goaway();
      },
    ],
    [
      "sends half a UTF-8 character a frame",
      async (stream) => {
        beginStream(stream, 1);
        for (const each of wholeTask) {
          for (const byte of frame(event(each))) {
            stream.write(Uint8Array.of(byte));
            await new Promise(setImmediate);
          }
        }
        endGrpc(stream);
      },
    ],
    [
      "has a state that nobody knows in between",
      (stream) => {
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
      },
    ],
  ];

  it.each(recoveries)("%s", { timeout: 6_000 }, async (_, answer) => {
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
