// No limit is no limit: neither a call that is over at once, nor a connection that is given up before it is made.

import type { ConnectOptions } from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import { AgentCardSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { beginGrpc, endGrpc, frame, startBrokenGrpcServer } from "./broken-grpc-server.ts";
import { respondResult, startBrokenServer } from "./broken-server.ts";
import { finishedTask, taskId, wholeText } from "./broken-task.ts";

const task = create(TaskSchema, { id: taskId, status: { state: TaskState.WORKING } });
const infinity = Number.POSITIVE_INFINITY;
const month = 30 * 24 * 3_600_000;

const all: readonly ConnectOptions[] = [
  { requestTimeoutMs: infinity },
  { requestTimeoutMs: month },
  { connectTimeoutMs: infinity },
  { connectTimeoutMs: month },
  { idleTimeoutMs: infinity },
  { idleTimeoutMs: month },
  { retry: { giveUpAfterMs: infinity, maxDelayMs: infinity, attempts: infinity } },
  { retry: { giveUpAfterMs: month } },
  { maxResponseBytes: infinity, maxTaskBytes: infinity, maxCardBytes: infinity, cardTtlMs: infinity },
];

describe.each(all.map((options) => [shown(options), options] as const))("with %s", (_, options) => {
  it("an agent is called over JSON-RPC", async () => {
    await using server = await startBrokenServer({
      serveCard: (card, __, response) =>
        response.end(JSON.stringify({ ...card, capabilities: { streaming: false } })),
      answer: (call) =>
        respondResult(call, call.method === "SendMessage" ? { task: finishedTask } : finishedTask),
    });
    await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC", ...options });
    expect((await agent.sendMessage("Go.")).payload.case).toBe("task");
    expect((await agent.run("Go.")).text()).toBe(wholeText);
  });

  it("an agent is called over gRPC, and told of no time that it could not read", async () => {
    const timeouts: unknown[] = [];
    await using server = await startBrokenGrpcServer((stream, headers) => {
      timeouts.push(headers["grpc-timeout"]);
      beginGrpc(stream);
      stream.write(frame(toBinary(TaskSchema, task)));
      endGrpc(stream);
    });
    const card = fromJson(AgentCardSchema, server.card, { ignoreUnknownFields: true });
    await using agent = await connectAgent(card, options);
    expect((await agent.getTask(taskId)).id).toBe(taskId);
    for (const timeout of timeouts) expect(timeout ?? "1m").toMatch(/^\d{1,8}m$/);
  });
});

it("a number that nobody can mean is refused before anything is asked for", async () => {
  await using server = await startBrokenServer({});
  const thrown = await failureOf(connectAgent(server.url, { connectTimeoutMs: Number.NaN }));
  expect(String(thrown)).toContain("connectTimeoutMs must be 0 or more");
});

function shown(options: ConnectOptions): string {
  return JSON.stringify(options, (_, value) => (value === infinity ? "Infinity" : value));
}
