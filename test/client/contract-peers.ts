import type { AgentClient } from "@a2a-connect/client";
import { findA2AError } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import { TaskState } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { collect, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import {
  type Answer,
  type Call,
  type JsonBinding,
  jsonBindings,
  openStream,
  respondJson,
  respondResult,
  startBrokenServer,
} from "./broken-server.ts";
import { finishedTask, statusEvent, taskId, taskJson, wholeTask, wholeText } from "./broken-task.ts";
import { createLeapingClock } from "./client-clocks.ts";

/** A fault of another server, scripted from what it sent, and what the client does nevertheless. */
interface Row {
  readonly peer: string;
  readonly bindings?: readonly JsonBinding[];
  /** A new script for each server. */
  readonly script: () => Answer;
  readonly act: (agent: AgentClient) => Promise<void>;
}

const question = statusEvent("TASK_STATE_INPUT_REQUIRED", {
  message: { messageId: "q", role: "ROLE_AGENT", parts: [{ text: "Which?" }] },
});

const config = { taskId, id: "config-1", url: "https://hook.example/" };

/**
 * The official server for Go: it knows streams of tasks only while their code runs. The stream of a message ends with
 * its code, or breaks after the first event.
 */
function goServer({ asks, breaks }: { readonly asks: boolean; readonly breaks: boolean }): Answer {
  let current: JsonValue = asks ? taskJson("TASK_STATE_INPUT_REQUIRED") : finishedTask;
  return (call) => {
    switch (call.method) {
      case "SendStreamingMessage": {
        const stream = openStream(call);
        const events = asks ? [wholeTask[0] ?? null, question] : wholeTask;
        for (const event of breaks ? events.slice(0, 1) : events) stream.send(event);
        return breaks ? stream.cut() : stream.end();
      }
      case "SendMessage":
        current = finishedTask;
        return respondResult(call, { task: current });
      case "GetTask":
        return respondResult(call, current);
      default:
        return respondError(call, -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND");
    }
  };
}

const rows: readonly Row[] = [
  {
    peer: "that knows no stream of a task that waits: a question is answered",
    script: () => goServer({ asks: true, breaks: false }),
    act: async (agent) => {
      const result = await agent.run("Tell me.", { onInputRequired: ({ text }) => `You asked: ${text}` });
      expect(result.text()).toBe(wholeText);
    },
  },
  {
    peer: "that knows no stream of a task that has ended: a broken stream loses nothing",
    script: () => goServer({ asks: false, breaks: true }),
    act: async (agent) => expect((await agent.run("Tell me.")).text()).toBe(wholeText),
  },
  {
    peer: "that knows no stream of a task that has ended: it can be resumed and followed",
    script: () => goServer({ asks: false, breaks: false }),
    act: async (agent) => {
      expect((await agent.resume(taskId)).text()).toBe(wholeText);
      const stream = agent.follow(taskId);
      expect(await collect(stream)).toHaveLength(1);
      expect(stream.task?.status?.state).toBe(TaskState.COMPLETED);
    },
  },
  {
    peer: "that has no such task: the error names it",
    script: () => (call) => respondError(call, -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
    act: async (agent) => {
      for (const call of [
        agent.getTask("nope"),
        agent.cancelTask("nope"),
        agent.resume("nope"),
        collect(agent.follow("nope")),
      ]) {
        const thrown = await rejectedWith(call, ConnectError);
        expect(findA2AError(thrown)?.reason).toBe("TASK_NOT_FOUND");
        expect(thrown.rawMessage).toContain('"nope"');
      }
    },
  },
  {
    peer: "that deletes a webhook with status 200 and no body",
    script:
      () =>
      ({ response }) =>
        void response.writeHead(200).end(),
    act: (agent) => agent.deletePushConfig(taskId, config.id),
  },
  {
    peer: "that deletes a webhook with status 200, no body, and its type",
    script:
      () =>
      ({ response }) =>
        void response.writeHead(200, { "content-type": "application/json" }).end(),
    act: (agent) => agent.deletePushConfig(taskId, config.id),
  },
  {
    peer: "that deletes a webhook without a `result`",
    bindings: ["JSONRPC"],
    script:
      () =>
      ({ response, id }) =>
        respondJson(response, { jsonrpc: "2.0", id }),
    act: (agent) => agent.deletePushConfig(taskId, config.id),
  },
  {
    peer: "that deletes a webhook with a web page: that is no success",
    script:
      () =>
      ({ response }) =>
        void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
    act: async (agent) => {
      await rejectedWith(agent.deletePushConfig(taskId, config.id), Error);
    },
  },
  {
    peer: "that has a number of its own for missing credentials",
    script: () => (call) => respondError(call, -31401, 401, "UNAUTHENTICATED", "UNAUTHENTICATED"),
    act: async (agent) => {
      const thrown = await rejectedWith(agent.getTask(taskId), ConnectError);
      expect(thrown.code).toBe(Code.Unauthenticated);
    },
  },
];

/** Peers with faults of their own: the client gets along with them, or says what is wrong. */
export function peerSuite(): void {
  for (const { peer, bindings = jsonBindings, script, act } of rows) {
    describe(`a server ${peer}`, () => {
      it.each(bindings)("over %s", { timeout: 5_000 }, async (pinBinding) => {
        await using server = await startBrokenServer({
          serveCard: (card, _, response) =>
            respondJson(response, { ...card, capabilities: { streaming: true, pushNotifications: true } }),
          answer: script(),
        });
        const clock = createLeapingClock(5_000); // only waits between two attempts are that short
        await using agent = await connectAgent(server.url, { pinBinding, clock });
        await act(agent);
      });
    });
  }
}

function respondError(
  { binding, id, response }: Call,
  number: number,
  status: number,
  name: string,
  reason: string,
): void {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" };
  const message = "that is not possible";
  const body: JsonValue =
    binding === "JSONRPC"
      ? { jsonrpc: "2.0", id, error: { code: number, message, data: [info] } }
      : { error: { code: status, status: name, message, details: [info] } };
  respondJson(response, body, binding === "JSONRPC" ? 200 : status);
}
