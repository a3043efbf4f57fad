// Agents that break the protocol over JSON-RPC and HTTP+JSON: each call recovers, or ends soon in an error that has a
// class and a sentence.

import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import {
  type AgentClient,
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
import { collect, failureOf } from "../../packages/client/test-support/outcomes.ts";
import { StoppedClock } from "../../packages/client/test-support/stopped-clock.ts";
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
import {
  type Answer,
  type BrokenServer,
  type Call,
  drained,
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
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

interface Recovery {
  readonly server: string;
  readonly answer: Answer;
  readonly options: ConnectOptions;
}

/** Rows: a server that answers so, or answers so to the first stream and well to whatever comes after it. */
const recovers = (server: string, answer: Answer, options: ConnectOptions = {}): Recovery => ({
  server,
  answer,
  options,
});
const recoversFrom = (server: string, first: Answer, options?: ConnectOptions): Recovery =>
  recovers(
    server,
    (call) => (call.method === "SendStreamingMessage" ? first(call) : answerWell(call)),
    options,
  );

const recoveries: readonly Recovery[] = [
  recovers("is right", answerWell),
  recoversFrom("closes in the middle of an event", async (call) => {
    const stream = openStream(call, 1);
    stream.send(wholeTask[0] ?? null, 1);
    const half = stream.encode(wholeTask[1] ?? null, 2);
    await stream.sendRaw(half.subarray(0, half.length - 20));
    stream.cut();
  }),
  recoversFrom("ends its stream in the middle of an event, as if that were all", async (call) => {
    const stream = openStream(call, 1);
    stream.send(wholeTask[0] ?? null, 1);
    await stream.sendRaw(stream.encode(wholeTask[1] ?? null, 2).subarray(0, 40));
    stream.end();
  }),
  recoversFrom("sends half a UTF-8 character a chunk", async (call) => {
    const stream = openStream(call, 1);
    for (const [index, event] of wholeTask.entries()) {
      for (const byte of stream.encode(event, index + 1)) {
        await stream.sendRaw(Uint8Array.of(byte));
        await new Promise(setImmediate);
      }
    }
    stream.end();
  }),
  recoversFrom("repeats events", (call) => {
    const stream = openStream(call, 1);
    for (const id of [1, 2, 2, 3, 1, 3, 4]) stream.send(wholeTask[id - 1] ?? null, id);
    stream.end();
  }),
  recoversFrom("skips events", (call) => {
    const stream = openStream(call, 1);
    for (const id of [1, 2, 4]) stream.send(wholeTask[id - 1] ?? null, id);
    stream.end();
  }),
  recoversFrom("ends its stream before the task has ended", (call) =>
    sendEvents(call, 1, wholeTask.slice(0, 2)),
  ),
  recovers("numbers nothing and closes", (call) => {
    if (call.method === "GetTask") return respondResult(call, finishedTask);
    const stream = openStream(call);
    if (call.method === "SubscribeToTask") {
      stream.send({ task: finishedTask });
      stream.end();
      return;
    }
    for (const event of wholeTask.slice(0, 2)) stream.send(event);
    stream.cut();
  }),
  recovers("numbers nothing and repeats what was streamed when it is followed again", (call) => {
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
  }),
  recoversFrom("goes on after the end", (call) =>
    sendEvents(call, 1, [...wholeTask, chunkEvent("and more", true), statusEvent("TASK_STATE_WORKING")]),
  ),
  recoversFrom(
    "sends thousands of comments, empty lines, fields that nobody knows, and lines ending in every way",
    async (call) => {
      const stream = openStream(call, 1);
      for (const [index, event] of wholeTask.entries()) {
        await stream.sendRaw(`: still here\r\n\r\n`.repeat(1_000));
        const lines = stream.encode(event, index + 1).toString();
        await stream.sendRaw(`retry: 1\nevent: odd\nmood: fine\r${lines.replaceAll("\n", "\r\n")}`);
      }
      stream.end();
    },
  ),
  recoversFrom("has a state that nobody knows in between", (call) =>
    sendEvents(call, 1, [wholeTask[0] ?? null, statusEvent("TASK_STATE_PONDERING"), ...wholeTask.slice(1)]),
  ),
  recovers(
    "has streams that stay silent, as behind a proxy that buffers them",
    (call) => {
      if (call.method === "GetTask") return respondResult(call, finishedTask);
      const stream = openStream(call, 1);
      if (call.method === "SendStreamingMessage") stream.send(wholeTask[0] ?? null, 1);
    },
    { idleTimeoutMs: 300 },
  ),
  recovers("is out of order for a while", (call) => {
    if (call.method === "SendStreamingMessage") return sendEvents(call, 1, wholeTask.slice(0, 1));
    if (call.attempt < 3) return void call.response.writeHead(503, { "retry-after": "1" }).end();
    answerWell(call);
  }),
  recovers("says that it streams, and does not", (call) => {
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
  }),
  recovers("has parts of kinds that nobody knows, and members that nobody knows", (call) => {
    const artifacts = [
      { artifactId: "story", parts: [{ hologram: { depth: 3 } }, { text: wholeText, mood: "fine" }, {}] },
    ];
    if (call.method === "GetTask")
      return respondResult(call, taskJson("TASK_STATE_COMPLETED", { artifacts }));
    sendEvents(call, 1, [{ task: taskJson("TASK_STATE_COMPLETED", { artifacts, aura: "blue" }) }]);
  }),
];

const failures: readonly Failure<Answer>[] = [
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
  ).flatMap(([what, type, body]): Failure<Answer>[] => [
    fails(
      `answers with ${what}`,
      getTask,
      InvalidResponseError,
      ({ response }) => void response.writeHead(200, { "content-type": type }).end(body),
    ),
    fails(
      `answers a send with ${what}`,
      run,
      SendUncertainError,
      ({ response }) => void response.writeHead(200, { "content-type": type }).end(body),
    ),
    fails(
      `answers a subscription with ${what}`,
      follow,
      InvalidResponseError,
      ({ response }) => void response.writeHead(200, { "content-type": type }).end(body),
    ),
  ]),
  fails(
    "fails with a web page",
    getTask,
    { error: UnreachableError, says: /502/ },
    ({ response }) =>
      void response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
  ),
  fails(
    "says 200 and means an error",
    getTask,
    { error: ConnectError, says: /out of luck/ },
    ({ response, binding, id }) =>
      respondJson(
        response,
        binding === "JSONRPC"
          ? { jsonrpc: "2.0", id, error: { code: -32099, message: "out of luck" } }
          : { error: { code: 404, message: "out of luck", status: "NOT_FOUND" } },
      ),
  ),
  fails(
    "redirects calls",
    getTask,
    { error: UnreachableError, says: /redirect/ },
    ({ response }) => void response.writeHead(302, { location: "/" }).end(),
  ),
  fails("answers with a Message where a Task is due", getTask, InvalidResponseError, (call) =>
    respondResult(call, { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] }),
  ),
  fails(
    "answers with neither a Task nor a Message",
    (agent) => agent.sendMessage("Tell me."),
    InvalidResponseError,
    (call) => respondResult(call, {}),
  ),
  fails(
    "answers with a bare Task where it has to be named",
    (agent) => agent.sendMessage("Tell me."),
    InvalidResponseError,
    (call) => respondResult(call, finishedTask),
  ),
  fails("answers with a task of wrong types", getTask, InvalidResponseError, (call) =>
    respondResult(call, { ...finishedTask, artifacts: "none", status: 3 }),
  ),
  fails(
    "answers with a gigabyte",
    getTask,
    { error: ContentTooLargeError, says: /262144 bytes.*maxResponseBytes/s },
    async ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"artifacts":[{"artifactId":"x","parts":[{"text":"');
      await pour(response, "x".repeat(65_536));
    },
  ),
  fails(
    "answers with little that a gigabyte comes out of",
    getTask,
    { error: ContentTooLargeError, says: /262144 bytes/ },
    ({ response }) =>
      void response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipBomb),
  ),
  ...neverAnswers,
  fails(
    "sends comments for ever",
    (agent) => agent.run("Tell me.", { deadlineMs: 400 }),
    RunTimeoutError,
    async (call) => {
      const stream = openStream(call, 1);
      stream.send({ task: taskJson("TASK_STATE_WORKING") }, 1);
      while (await stream.sendRaw(": still here\n\n")) await pause(1);
    },
  ),
  fails("answers with an object of very many names", getTask, ContentTooLargeError, (call) => {
    const metadata = Object.fromEntries(Array.from({ length: 16_500 }, (_, at) => [at, true]));
    respondResult(call, { ...finishedTask, metadata });
  }),
  fails("sends one comment without end", follow, ContentTooLargeError, async (call) => {
    openStream(call, 1);
    call.response.write(": ");
    await pour(call.response, "x".repeat(65_536));
  }),
  fails("sends one event without end", follow, ContentTooLargeError, async (call) => {
    openStream(call, 1);
    call.response.write('id: 1\ndata: {"');
    await pour(call.response, "x".repeat(65_536));
  }),
  fails("cuts every connection", follow, UnreachableError, ({ response }) => void response.destroy()),
  fails(
    "cuts the connection that a message came by",
    run,
    { error: SendUncertainError, calls: ["SendStreamingMessage"] },
    ({ response }) => void response.destroy(),
  ),
  // Streams.
  fails("sends an event without a payload", run, InvalidResponseError, (call) => sendEvents(call, 1, [{}])),
  fails("sends an event with a payload that nobody knows", run, InvalidResponseError, (call) =>
    sendEvents(call, 1, [{ hologram: {} }]),
  ),
  fails("sends an event of another task", run, InvalidResponseError, (call) =>
    sendEvents(call, 1, [
      { task: taskJson("TASK_STATE_WORKING") },
      { statusUpdate: { taskId: "other", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } },
    ]),
  ),
  fails("sends a Message into a task's stream", follow, InvalidResponseError, (call) =>
    sendEvents(call, 1, [{ message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] } }]),
  ),
  fails("sends a Message after the task", run, InvalidResponseError, (call) =>
    sendEvents(call, 1, [
      { task: taskJson("TASK_STATE_WORKING") },
      { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] } },
    ]),
  ),
  fails("sends something that is no JSON as an event", follow, InvalidResponseError, async (call) => {
    const stream = openStream(call, 1);
    await stream.sendRaw("id: 1\ndata: <h1>\n\n");
    stream.end();
  }),
  fails("opens a stream and ends it without an event", run, SendUncertainError, (call) =>
    openStream(call, 1).end(),
  ),
  fails("sends an update without what it updates", run, InvalidResponseError, (call) =>
    sendEvents(call, 1, [
      { task: taskJson("TASK_STATE_WORKING") },
      { artifactUpdate: { taskId, contextId: "context-1" } },
    ]),
  ),
];

const jsonRpcFailures: readonly Failure<Answer>[] = [
  fails(
    "answers somebody else's request",
    getTask,
    { error: InvalidResponseError, says: /id/ },
    ({ response }) => respondJson(response, { jsonrpc: "2.0", id: "another", result: finishedTask }),
  ),
  fails(
    "answers with both a result and an error",
    getTask,
    { error: ConnectError, says: /or not/ },
    ({ response, id }) =>
      respondJson(response, {
        jsonrpc: "2.0",
        id,
        result: finishedTask,
        error: { code: -1, message: "or not" },
      }),
  ),
  fails("answers with neither a result nor an error", getTask, InvalidResponseError, ({ response, id }) =>
    respondJson(response, { jsonrpc: "2.0", id }),
  ),
];

describe.each(jsonBindings)("over %s", (binding) => {
  const connect = ({ url }: BrokenServer, options: ConnectOptions = {}): Promise<AgentClient> =>
    connectAgent(url, { ...limits, ...options, pinBinding: binding });
  const patience = { retry: { ...limits.retry, giveUpAfterMs: 60_000 } };

  // They mostly wait for the end of a silence or a pause, each with a server of its own.
  describe.concurrent("the client recovers from a server that", () => {
    for (const { server: title, answer, options } of recoveries) {
      it(title, { timeout: soonMs }, async () => {
        await using server = await startBrokenServer({ answer });
        await using agent = await connect(server, { ...patience, ...options });
        const result = await agent.run("Tell me.");
        expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
        expect(result.artifact("story").text()).toBe(wholeText);

        const streamed = agent.stream("Tell me.");
        const events = await collect(streamed);
        expect(chunksOf(events)).toBe(wholeText);
        expect(streamed.task?.status?.state).toBe(TaskState.COMPLETED);
      });
    }
  });

  describe.concurrent("the client says what is wrong with a server that", () => {
    const rows = binding === "JSONRPC" ? [...failures, ...jsonRpcFailures] : failures;
    for (const { server: title, answer, act, expected, options } of rows) {
      it(title, { timeout: soonMs }, async () => {
        await using server = await startBrokenServer({ answer });
        await using agent = await connect(server, options);
        expectTyped(await failureOf(act(agent)), expected);
        if (expected.calls !== undefined) expect(server.calls).toEqual(expected.calls);
      });
    }
  });

  it("a message that is never answered is sent once", async () => {
    const clock = new StoppedClock();
    await using server = await startBrokenServer({ answer: () => clock.pass(60_000) });
    await using agent = await connect(server, { clock });
    expect(await failureOf(agent.run("Tell me."))).toBeInstanceOf(SendUncertainError);
    expect(server.calls).toEqual(["SendStreamingMessage"]);
  });

  it("of a gigabyte no more is read than the limit and what is under way", { timeout: soonMs }, async () => {
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
