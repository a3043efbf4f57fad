// Habits of other servers of A2A 0.3 and 0.2: what they sent, and what the client makes of it.
import type { AgentClient } from "@a2a-connect/client";
import { findA2AError } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import { type Task, TaskState } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";
import { sendJson, startHttpServer } from "../../packages/client/test-support/http-server.ts";
import { collect, failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { olderCard } from "../support/cards.ts";

/** A request as a server reads it. */
interface Asked {
  /** `GET /v1/tasks/t`, or the method of JSON-RPC. */
  readonly what: string;
  readonly body: JsonObject;
}

/** What is answered: JSON with status 200, or with another; the events of a stream. */
type Told =
  | { readonly json: JsonValue; readonly status?: number }
  | { readonly events: readonly JsonValue[] };

/** A client of a server of this version that answers so, and what the server was asked. */
async function meet(
  version: string | undefined,
  transport: "JSONRPC" | "HTTP+JSON",
  tell: (asked: Asked) => Told,
): Promise<{ readonly agent: AgentClient; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const server = await startHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url === "/.well-known/agent-card.json") {
        const card = olderCard(version, server.url);
        sendJson(response, {
          ...card,
          ...(version === undefined ? {} : { preferredTransport: transport }),
          capabilities: { streaming: true, pushNotifications: true },
          supportsAuthenticatedExtendedCard: true,
        });
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
      const isRpc = transport === "JSONRPC";
      asked.push({
        what: isRpc ? body.method : `${request.method} ${request.url}`,
        body: isRpc ? (body.params ?? {}) : body,
      });
      const told = tell(asked.at(-1) as Asked); // the line above
      const wrap = (result: JsonValue) => (isRpc ? { jsonrpc: "2.0", id: body.id, result } : result);
      if ("events" in told) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(told.events.map((event) => `data: ${JSON.stringify(wrap(event))}\n\n`).join(""));
      } else {
        response.writeHead(told.status ?? 200, { "content-type": "application/json" });
        response.end(JSON.stringify(told.status === undefined ? wrap(told.json) : told.json));
      }
    });
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const agent = await connectAgent(server.url, { retry: { attempts: 1, initialDelayMs: 1 } });
  onTestFinished(() => agent.close());
  return { agent, asked };
}

const ids = { taskId: "t", contextId: "c" };
const artifact = { artifactId: "a", parts: [{ kind: "text", text: "hello" }] };
const done = { state: "completed" };

describe("a server of 0.2", () => {
  it("is asked with what it requires, and may leave out what its answers are", async () => {
    const { agent, asked } = await meet(undefined, "JSONRPC", () => ({
      events: [
        { id: "t", contextId: "c", status: { state: "submitted" } },
        { ...ids, artifact },
        { ...ids, status: done, final: true },
      ],
    }));
    const result = await agent.run("hi");
    expect(agent.interface.protocolVersion).toBe("0.2");
    expect(result.text()).toBe("hello");
    expect(asked[0]).toMatchObject({
      what: "message/stream",
      body: {
        message: { kind: "message", role: "user", parts: [{ kind: "text", text: "hi" }] },
        configuration: { acceptedOutputModes: [] },
      },
    });
  });

  it("answers with a message without an id or a kind", async () => {
    const { agent } = await meet("0.2.5", "JSONRPC", () => ({
      json: { role: "agent", parts: [{ type: "text", text: "hello" }] },
    }));
    const { payload } = await agent.sendMessage("hi");
    expect(payload).toMatchObject({ case: "message", value: { parts: [{ content: { value: "hello" } }] } });
  });

  it("keeps webhooks without ids", async () => {
    const { agent, asked } = await meet("0.2.2", "JSONRPC", () => ({
      json: { taskId: "t", pushNotificationConfig: { url: "https://h.example/" } },
    }));
    expect(await agent.createPushConfig("t", { url: "https://h.example/" })).toMatchObject({ id: "t" });
    expect(asked[0]?.what).toBe("tasks/pushNotificationConfig/set");
  });
});

describe("a server of 0.3", () => {
  it("says what a newer one may say: it is left out", async () => {
    const parts = [{ kind: "video", stream: 1 }, { kind: "text", text: "hello" }, { kind: "text" }];
    const { agent } = await meet("0.3.0", "JSONRPC", () => ({
      json: {
        kind: "task",
        id: "t",
        contextId: "c",
        status: { state: "dreaming", message: { kind: "message", messageId: "m", role: "robot", parts } },
        extra: true,
      },
    }));
    const task = await agent.getTask("t");
    expect(task.status?.state).toBe(TaskState.UNSPECIFIED);
    expect(task.status?.message?.parts.map(({ content }) => content.value)).toEqual([
      undefined,
      "hello",
      undefined,
    ]);
  });

  it("writes over HTTP+JSON what it would write over JSON-RPC", async () => {
    const { agent, asked } = await meet("0.3.0", "HTTP+JSON", () => ({
      events: [
        { kind: "task", id: "t", contextId: "c", status: { state: "submitted" } },
        { kind: "artifact-update", ...ids, artifact },
        { kind: "status-update", ...ids, status: done, final: true },
      ],
    }));
    expect((await agent.run("hi")).text()).toBe("hello");
    expect(asked[0]?.what).toBe("POST /v1/message:stream");
  });

  it("knows streams of a task by GET alone", async () => {
    const { agent, asked } = await meet("0.3.0", "HTTP+JSON", ({ what }) =>
      what.startsWith("GET")
        ? { events: [{ task: { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } }] }
        : { json: { detail: "Method Not Allowed" }, status: 405 },
    );
    const stream = agent.follow("t");
    await collect(stream);
    expect(stream.task?.status?.state).toBe(TaskState.COMPLETED);
    expect(asked.map(({ what }) => what)).toEqual([
      "POST /v1/tasks/t:subscribe",
      "GET /v1/tasks/t:subscribe",
    ]);
  });

  const get = (agent: AgentClient): Promise<Task> => agent.getTask("t");
  const cancel = (agent: AgentClient): Promise<Task> => agent.cancelTask("t");
  for (const [status, error, call, reason, code] of [
    [404, { message: "Task not found" }, get, "TASK_NOT_FOUND", Code.NotFound],
    [409, { message: "Task cannot be canceled" }, cancel, "TASK_NOT_CANCELABLE", Code.FailedPrecondition],
    [404, { code: -32001, message: "Task not found" }, get, "TASK_NOT_FOUND", Code.NotFound],
    [422, { message: "Invalid parameters" }, get, undefined, Code.InvalidArgument],
    [404, { code: -32601, message: "Method not found" }, get, undefined, Code.Unimplemented],
    [
      501,
      { message: "Push Notification is not supported" },
      (agent: AgentClient) => agent.getPushConfig("t", "c"),
      "PUSH_NOTIFICATION_NOT_SUPPORTED",
      Code.FailedPrecondition,
    ],
    [
      404,
      { message: "Authenticated Extended Card is not configured" },
      (agent: AgentClient) => agent.getExtendedCard(),
      "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
      Code.FailedPrecondition,
    ],
  ] as const) {
    it(`means ${reason ?? Code[code]} by HTTP ${status} and ${JSON.stringify(error)}`, async () => {
      const { agent } = await meet("0.3.0", "HTTP+JSON", () => ({ json: error, status }));
      const thrown = await rejectedWith(call(agent), ConnectError);
      expect([findA2AError(thrown)?.reason, thrown.code]).toEqual([reason, code]);
      expect(thrown.rawMessage).toContain(error.message);
    });
  }

  it("has nothing at the path: that is no answer of A2A", async () => {
    const { agent } = await meet("0.3.0", "HTTP+JSON", () => ({ json: { error: "Not Found" }, status: 404 }));
    expect(await failureOf(agent.getTask("t"))).toMatchObject({ code: "invalid-response" });
  });
});
