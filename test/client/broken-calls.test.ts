// Agents that break the protocol over JSON-RPC and HTTP+JSON: each call recovers, or ends soon in an error that has a
// class and a sentence.

import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import {
  type AgentClient,
  AgentError,
  type ConnectOptions,
  ContentTooLargeError,
  InvalidResponseError,
  RunTimeoutError,
  SendUncertainError,
  UnreachableError,
} from "@a2a-connect/client";
import { partText } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import {
  type Answer,
  type BrokenServer,
  type Call,
  drained,
  type JsonBinding,
  jsonBindings,
  openStream,
  respondJson,
  respondResult,
  startBrokenServer,
} from "./broken-server.ts";
import {
  answerWell,
  chunkEvent,
  finishedTask,
  sendEvents,
  statusEvent,
  taskId,
  taskJson,
  wholeTask,
  wholeText,
} from "./broken-task.ts";
import { collect, failureOf } from "./outcomes.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

/** Every wait ends within a second. */
const limits: ConnectOptions = {
  connectTimeoutMs: 1_000,
  requestTimeoutMs: 300,
  idleTimeoutMs: 300,
  maxResponseBytes: 256 * 1024,
  retry: { attempts: 2, initialDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 600 },
};

interface Broken {
  readonly server: string;
  readonly answer: Answer;
  readonly bindings?: readonly JsonBinding[];
  readonly options?: ConnectOptions;
}

interface Recovery extends Broken {
  /** Default: the whole text of the task. */
  readonly text?: string;
}

interface Failure extends Broken {
  readonly act: (agent: AgentClient) => Promise<unknown>;
  /** Default: an answer that is none is a ConnectError for a single operation, and an AgentError for what follows a task. */
  readonly error?: abstract new (
    ...args: never[]
  ) => Error;
  readonly says?: RegExp;
  /** What else has to hold. */
  readonly check?: (server: BrokenServer) => void;
}

const run = (agent: AgentClient): Promise<unknown> => agent.run("Tell me.");
const getTask = (agent: AgentClient): Promise<unknown> => agent.getTask(taskId);
const follow = (agent: AgentClient): Promise<unknown> => collect(agent.follow(taskId, { after: 0 }));

const recoveries: readonly Recovery[] = [
  { server: "is right", answer: answerWell },
  {
    server: "closes in the middle of an event",
    answer: firstStream(async (call) => {
      const stream = openStream(call, 1);
      stream.send(wholeTask[0] ?? null, 1);
      const half = stream.encode(wholeTask[1] ?? null, 2);
      await stream.sendRaw(half.subarray(0, half.length - 20));
      stream.cut();
    }),
  },
  {
    server: "ends its stream in the middle of an event, as if that were all",
    answer: firstStream(async (call) => {
      const stream = openStream(call, 1);
      stream.send(wholeTask[0] ?? null, 1);
      await stream.sendRaw(stream.encode(wholeTask[1] ?? null, 2).subarray(0, 40));
      stream.end();
    }),
  },
  {
    server: "sends half a UTF-8 character a chunk",
    answer: firstStream(async (call) => {
      const stream = openStream(call, 1);
      for (const [index, event] of wholeTask.entries()) {
        for (const byte of stream.encode(event, index + 1)) {
          await stream.sendRaw(Uint8Array.of(byte));
          await new Promise(setImmediate);
        }
      }
      stream.end();
    }),
    options: { idleTimeoutMs: 5_000 },
  },
  {
    server: "repeats events",
    answer: firstStream((call) => {
      const stream = openStream(call, 1);
      for (const id of [1, 2, 2, 3, 1, 3, 4]) stream.send(wholeTask[id - 1] ?? null, id);
      stream.end();
    }),
  },
  {
    server: "skips events",
    answer: firstStream((call) => {
      const stream = openStream(call, 1);
      for (const id of [1, 2, 4]) stream.send(wholeTask[id - 1] ?? null, id);
      stream.end();
    }),
  },
  {
    server: "ends its stream before the task has ended",
    answer: firstStream((call) => sendEvents(call, 1, wholeTask.slice(0, 2))),
  },
  {
    server: "numbers nothing and closes",
    answer: (call) => {
      if (call.method === "GetTask") return respondResult(call, finishedTask);
      const stream = openStream(call);
      if (call.method === "SubscribeToTask") {
        stream.send({ task: finishedTask });
        stream.end();
        return;
      }
      for (const event of wholeTask.slice(0, 2)) stream.send(event);
      stream.cut();
    },
  },
  {
    server: "numbers nothing and repeats what was streamed when it is followed again",
    answer: (call) => {
      if (call.method === "GetTask") return respondResult(call, finishedTask);
      const stream = openStream(call);
      if (call.method === "SendStreamingMessage") {
        for (const event of wholeTask.slice(0, 2)) stream.send(event);
        stream.cut();
        return;
      }
      const known = taskJson("TASK_STATE_WORKING", {
        artifacts: [{ artifactId: "story", parts: [{ text: "Grüße, " }] }],
      });
      stream.send({ task: known });
      for (const event of wholeTask.slice(2)) stream.send(event);
      stream.end();
    },
  },
  {
    server: "goes on after the end",
    answer: firstStream((call) =>
      sendEvents(call, 1, [...wholeTask, chunkEvent("and more", true), statusEvent("TASK_STATE_WORKING")]),
    ),
  },
  {
    server:
      "sends thousands of comments, empty lines, fields that nobody knows, and lines ending in every way",
    answer: firstStream(async (call) => {
      const stream = openStream(call, 1);
      for (const [index, event] of wholeTask.entries()) {
        await stream.sendRaw(`: still here\r\n\r\n`.repeat(1_000));
        const lines = stream.encode(event, index + 1).toString();
        await stream.sendRaw(`retry: 1\nevent: odd\nmood: fine\r${lines.replaceAll("\n", "\r\n")}`);
      }
      stream.end();
    }),
  },
  {
    server: "has a state that nobody knows in between",
    answer: firstStream((call) =>
      sendEvents(call, 1, [wholeTask[0] ?? null, statusEvent("TASK_STATE_PONDERING"), ...wholeTask.slice(1)]),
    ),
  },
  {
    server: "has streams that stay silent, as behind a proxy that buffers them",
    answer: (call) => {
      if (call.method === "GetTask") return respondResult(call, finishedTask);
      const stream = openStream(call, 1);
      if (call.method === "SendStreamingMessage") stream.send(wholeTask[0] ?? null, 1);
    },
    options: { idleTimeoutMs: 100 },
  },
  {
    server: "is out of order for a while",
    answer: (call) => {
      if (call.method === "SendStreamingMessage") return sendEvents(call, 1, wholeTask.slice(0, 1));
      if (call.attempt < 3) return void call.response.writeHead(503, { "retry-after": "1" }).end();
      answerWell(call);
    },
  },
  {
    server: "says that it streams, and does not",
    answer: (call) => {
      const { method, response, binding, id } = call;
      if (method !== "SendStreamingMessage" && method !== "SubscribeToTask") return answerWell(call);
      const message = "no streams here";
      if (binding === "JSONRPC")
        respondJson(response, { jsonrpc: "2.0", id, error: { code: -32004, message } });
      else
        respondJson(
          response,
          { error: { code: 400, message, status: "FAILED_PRECONDITION", details: [unsupported] } },
          400,
        );
    },
  },
  {
    server: "has parts of kinds that nobody knows, and members that nobody knows",
    answer: (call) => {
      const artifacts = [
        { artifactId: "story", parts: [{ hologram: { depth: 3 } }, { text: wholeText, mood: "fine" }, {}] },
      ];
      if (call.method === "GetTask")
        return respondResult(call, taskJson("TASK_STATE_COMPLETED", { artifacts }));
      sendEvents(call, 1, [{ task: taskJson("TASK_STATE_COMPLETED", { artifacts, aura: "blue" }) }]);
    },
  },
];

const failures: readonly Failure[] = [
  // What is answered instead of an answer.
  ...(
    [
      ["a web page", "text/html", "<!doctype html><h1>Welcome</h1>"],
      ["nothing", "application/json", ""],
      ["half of a JSON object", "application/json", '{"id": "task-1", "sta'],
      ["a number", "application/json", "7"],
      ["a list", "application/json", "[]"],
      ["bytes", "application/octet-stream", "\u0000\u0001"],
    ] as const
  ).flatMap(([what, type, body]): Failure[] => [
    {
      server: `answers with ${what}`,
      answer: ({ response }) => void response.writeHead(200, { "content-type": type }).end(body),
      act: getTask,
    },
    {
      server: `answers a send with ${what}`,
      answer: ({ response }) => void response.writeHead(200, { "content-type": type }).end(body),
      act: run,
      error: SendUncertainError,
    },
    {
      server: `answers a subscription with ${what}`,
      answer: ({ response }) => void response.writeHead(200, { "content-type": type }).end(body),
      act: follow,
    },
  ]),
  {
    server: "fails with a web page",
    answer: ({ response }) =>
      void response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
    act: getTask,
    error: UnreachableError,
    says: /502/,
  },
  {
    server: "says 200 and means an error",
    answer: ({ response, binding, id }) =>
      respondJson(
        response,
        binding === "JSONRPC"
          ? { jsonrpc: "2.0", id, error: { code: -32099, message: "out of luck" } }
          : { error: { code: 404, message: "out of luck", status: "NOT_FOUND" } },
      ),
    act: getTask,
    error: ConnectError,
    says: /out of luck/,
  },
  {
    server: "answers somebody else's request",
    bindings: ["JSONRPC"],
    answer: ({ response }) => respondJson(response, { jsonrpc: "2.0", id: "another", result: finishedTask }),
    act: getTask,
    says: /id/,
  },
  {
    server: "answers with both a result and an error",
    bindings: ["JSONRPC"],
    answer: ({ response, id }) =>
      respondJson(response, {
        jsonrpc: "2.0",
        id,
        result: finishedTask,
        error: { code: -1, message: "or not" },
      }),
    act: getTask,
    error: ConnectError,
    says: /or not/,
  },
  {
    server: "answers with neither a result nor an error",
    bindings: ["JSONRPC"],
    answer: ({ response, id }) => respondJson(response, { jsonrpc: "2.0", id }),
    act: getTask,
  },
  {
    server: "redirects calls",
    answer: ({ response }) => void response.writeHead(302, { location: "/" }).end(),
    act: getTask,
    error: UnreachableError,
    says: /redirect/,
  },
  {
    server: "answers with a Message where a Task is due",
    answer: (call) => respondResult(call, { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] }),
    act: getTask,
  },
  {
    server: "answers with neither a Task nor a Message",
    answer: (call) => respondResult(call, {}),
    act: (agent) => agent.sendMessage("Tell me."),
    error: InvalidResponseError,
  },
  {
    server: "answers with a bare Task where it has to be named",
    answer: (call) => respondResult(call, finishedTask),
    act: (agent) => agent.sendMessage("Tell me."),
    error: InvalidResponseError,
  },
  {
    server: "answers with a task of wrong types",
    answer: (call) => respondResult(call, { ...finishedTask, artifacts: "none", status: 3 }),
    act: getTask,
  },
  {
    server: "answers with a gigabyte",
    answer: async ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"artifacts":[{"artifactId":"x","parts":[{"text":"');
      await pour(response, "x".repeat(65_536));
    },
    error: ContentTooLargeError,
    act: getTask,
    says: /262144 bytes.*maxResponseBytes/s,
  },
  {
    server: "answers with little that a gigabyte comes out of",
    answer: ({ response }) =>
      void response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipBomb),
    error: ContentTooLargeError,
    act: getTask,
    says: /262144 bytes/,
  },

  // Silence.
  {
    server: "never answers",
    answer: () => {},
    act: getTask,
    error: UnreachableError,
    says: /requestTimeoutMs/,
  },
  {
    server: "never answers a message",
    answer: () => {},
    act: run,
    error: SendUncertainError,
    check: ({ calls }) => expect(calls).toEqual(["SendStreamingMessage"]),
  },
  {
    server: "never answers a subscription",
    answer: () => {},
    act: follow,
    error: UnreachableError,
  },
  {
    server: "sends comments for ever",
    answer: async (call) => {
      const stream = openStream(call, 1);
      stream.send({ task: taskJson("TASK_STATE_WORKING") }, 1);
      while (await stream.sendRaw(": still here\n\n")) await pause(1);
    },
    act: (agent) => agent.run("Tell me.", { deadlineMs: 400 }),
    error: RunTimeoutError,
  },
  {
    server: "sends one comment without end",
    answer: async (call) => {
      openStream(call, 1);
      call.response.write(": ");
      await pour(call.response, "x".repeat(65_536));
    },
    error: ContentTooLargeError,
    act: follow,
  },
  {
    server: "sends one event without end",
    answer: async (call) => {
      openStream(call, 1);
      call.response.write('id: 1\ndata: {"');
      await pour(call.response, "x".repeat(65_536));
    },
    error: ContentTooLargeError,
    act: follow,
  },
  {
    server: "cuts every connection",
    answer: ({ response }) => void response.destroy(),
    act: follow,
    error: UnreachableError,
  },
  {
    server: "cuts the connection that a message came by",
    answer: ({ response }) => void response.destroy(),
    act: run,
    error: SendUncertainError,
    check: ({ calls }) => expect(calls).toEqual(["SendStreamingMessage"]),
  },

  // Streams.
  {
    server: "sends an event without a payload",
    answer: (call) => sendEvents(call, 1, [{}]),
    act: run,
    error: InvalidResponseError,
  },
  {
    server: "sends an event with a payload that nobody knows",
    answer: (call) => sendEvents(call, 1, [{ hologram: {} }]),
    act: run,
    error: InvalidResponseError,
  },
  {
    server: "sends an event of another task",
    answer: (call) =>
      sendEvents(call, 1, [
        { task: taskJson("TASK_STATE_WORKING") },
        { statusUpdate: { taskId: "other", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } },
      ]),
    act: run,
    error: InvalidResponseError,
  },
  {
    server: "sends a Message into a task's stream",
    answer: (call) =>
      sendEvents(call, 1, [{ message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] } }]),
    act: follow,
    error: InvalidResponseError,
  },
  {
    server: "sends a Message after the task",
    answer: (call) =>
      sendEvents(call, 1, [
        { task: taskJson("TASK_STATE_WORKING") },
        { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] } },
      ]),
    act: run,
    error: InvalidResponseError,
  },
  {
    server: "sends something that is no JSON as an event",
    answer: async (call) => {
      const stream = openStream(call, 1);
      await stream.sendRaw("id: 1\ndata: <h1>\n\n");
      stream.end();
    },
    act: follow,
  },
  {
    server: "opens a stream and ends it without an event",
    answer: (call) => openStream(call, 1).end(),
    act: run,
    error: SendUncertainError,
  },
  {
    server: "sends an update without what it updates",
    answer: (call) =>
      sendEvents(call, 1, [
        { task: taskJson("TASK_STATE_WORKING") },
        { artifactUpdate: { taskId, contextId: "context-1" } },
      ]),
    act: run,
  },
];

describe.each(jsonBindings)("over %s", (binding) => {
  const connect = ({ url }: BrokenServer, options: ConnectOptions = {}): Promise<AgentClient> =>
    connectAgent(url, { ...limits, ...options, pinBinding: binding });

  describe("the client recovers from a server that", () => {
    for (const { server: title, answer, bindings = jsonBindings, options, text = wholeText } of recoveries) {
      if (!bindings.includes(binding)) continue;
      it(title, { timeout: 8_000 }, async () => {
        await using server = await startBrokenServer({ answer });
        await using agent = await connect(server, options);
        const result = await agent.run("Tell me.");
        expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
        expect(result.artifact("story").text()).toBe(text);

        const streamed = agent.stream("Tell me.");
        const events = await collect(streamed);
        expect(chunksOf(events)).toBe(text);
        expect(streamed.task?.status?.state).toBe(TaskState.COMPLETED);
      });
    }
  });

  describe("the client says what is wrong with a server that", () => {
    for (const { server: title, answer, bindings = jsonBindings, options, act, ...expected } of failures) {
      if (!bindings.includes(binding)) continue;
      it(title, { timeout: 4_000 }, async () => {
        await using server = await startBrokenServer({ answer });
        await using agent = await connect(server, options);
        const thrown = await failureOf(act(agent));
        expectTyped(thrown, expected);
        expected.check?.(server);
      });
    }
  });

  it("of a gigabyte no more is read than the limit and what is under way", { timeout: 8_000 }, async () => {
    let sent = 0;
    await using server = await startBrokenServer({
      answer: async ({ response }) => {
        response.writeHead(200, { "content-type": "application/json" });
        sent += await pour(response, " ".repeat(65_536));
      },
    });
    await using agent = await connect(server);
    await expect(agent.getTask(taskId)).rejects.toThrow(ContentTooLargeError);
    expect(sent).toBeLessThan(16 * 1024 * 1024); // sockets and streams buffer some megabytes
  });
});

const gzipBomb: Buffer = gzipSync(Buffer.alloc(64 * 1024 * 1024, " "));

const unsupported: JsonValue = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "UNSUPPORTED_OPERATION",
  domain: "a2a-protocol.org",
};

/** Breaks the first stream; whatever comes after it is answered well. */
function firstStream(answer: Answer): Answer {
  return (call) => (call.method === "SendStreamingMessage" ? answer(call) : answerWell(call));
}

/** Writes until nobody reads any more, or a gigabyte is written. @returns bytes written */
async function pour(response: Call["response"], chunk: string): Promise<number> {
  let sent = 0;
  while (!response.destroyed && sent < 2 ** 30) {
    sent += chunk.length;
    if (!response.write(chunk)) await drained(response);
  }
  response.destroy();
  return sent;
}

/** What the artifact is after these events, as somebody who folds them by hand would say. */
function chunksOf(events: readonly StreamResponse[]): string {
  let text = "";
  for (const { payload } of events) {
    if (payload.case === "task") {
      text = payload.value.artifacts.map(partText).join("");
    } else if (payload.case === "artifactUpdate" && payload.value.artifact !== undefined) {
      text = (payload.value.append ? text : "") + partText(payload.value.artifact);
    }
  }
  return text;
}

function expectTyped(
  thrown: unknown,
  { error = InvalidResponseError, says }: Pick<Failure, "error" | "says">,
): void {
  expect(thrown).toBeInstanceOf(error);
  if (!(thrown instanceof AgentError)) {
    expect(String(thrown)).toMatch(says ?? /\S+ \S+/);
    return;
  }
  const words = `${thrown.message}\n${thrown.hint ?? ""}`;
  expect(thrown.message).toMatch(/\S+ \S+ \S+/);
  expect(thrown.hint ?? "", `the hint of: ${thrown.message}`).toMatch(/\S+ \S+ \S+/);
  expect(words).toMatch(says ?? /./);
  expect(words.length).toBeLessThan(2_000);
}
