import { findA2AError } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import { TaskState } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { collect, failureOf } from "../../../packages/client/test-support/outcomes.ts";
import {
  type Answer,
  openStream,
  respondJson,
  respondResult,
  startBrokenServer,
} from "../../client/broken-server.ts";
import { chunkEvent, statusEvent, taskId, taskJson, wholeTask, wholeText } from "../../client/broken-task.ts";
import { bindingOf } from "../../client/interfaces.ts";
import { clientScenarios } from "./client-scenario.ts";

/** What the client makes of JSON that is allowed, if not ours. */
export const json = clientScenarios("JSON, as the client reads it", (verifies) => {
  verifies("H-6", "may have members that it does not know, wherever they are", async (wire) => {
    const odd = (members: JsonObject): JsonObject => ({ "urn:new": [{ kind: 1 }], kind: "new", ...members });
    const status = { status: odd({ state: "TASK_STATE_COMPLETED", message: oddMessage() }) };
    const task = odd(taskJson("TASK_STATE_COMPLETED", status));
    await using server = await startBrokenServer({
      serveCard: (card, _, response) =>
        respondJson(response, odd({ ...card, capabilities: odd(card["capabilities"] as JsonObject) })), // it is an object
      answer: (call) => {
        if (call.method === "GetTask") return respondResult(call, task);
        const stream = openStream(call);
        for (const event of [odd({ task: odd(taskJson("TASK_STATE_WORKING")) }), oddUpdate(odd)])
          stream.send(event);
        stream.end();
      },
    });
    await using agent = await connectAgent(server.url, { pinBinding: bindingOf[wire] });
    const read = await agent.getTask(taskId);
    expect(read.status?.state).toBe(TaskState.COMPLETED);
    expect(read.status?.message?.parts.map(({ content }) => content)).toEqual([
      { case: "text", value: "hi" },
    ]);
    const stream = agent.stream("hello");
    await collect(stream);
    expect(stream.task?.status?.state).toBe(TaskState.COMPLETED);
  });

  for (const [what, status, code, reason] of [
    ["another number than today's", 409, -32603, "TASK_NOT_CANCELABLE"],
    ["a number that means something else", 404, -32001, "TASK_NOT_CANCELABLE"],
    ["a number of no meaning", 418, -32099, "UNSUPPORTED_OPERATION"],
    ["the number of a bad gateway", 502, -32006, "INVALID_AGENT_RESPONSE"],
  ] as const) {
    verifies("E-4", `tells by its reason what is wrong, also with ${what}`, async (wire) => {
      await using server = await startBrokenServer({
        answer: failing(status, code, [errorInfo(reason), { "@type": "x" }, 5]),
      });
      await using agent = await connectAgent(server.url, { pinBinding: bindingOf[wire] });
      expect(findA2AError(await failureOf(agent.cancelTask(taskId)))?.reason).toBe(reason);
    });
  }

  verifies(
    "E-4",
    "tells by its number what is wrong, where it gives no reason",
    async (wire) => {
      await using server = await startBrokenServer({ answer: failing(200, -32002, []) });
      await using agent = await connectAgent(server.url, { pinBinding: bindingOf[wire] });
      expect(findA2AError(await failureOf(agent.cancelTask(taskId)))?.reason).toBe("TASK_NOT_CANCELABLE");
    },
    { places: ["jsonrpc"] }, // HTTP statuses stand for several errors each
  );

  for (const [what, encode] of [
    ["ends its lines with CR LF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["ends its lines with CR", (text: string) => text.replaceAll("\n", "\r")],
    ["begins with a byte order mark", (text: string) => `\ufeff${text}`],
    [
      "has comments, names and times to wait",
      (text: string) => text.replaceAll("data:", ": hi\nretry: 5\nevent: x\ndata:"),
    ],
    [
      "has its data over several lines",
      (text: string) => text.replaceAll('"result":', '\ndata: "result":\ndata: '),
    ],
  ] as const) {
    verifies("I-6", `is the same in a stream that ${what}, however it is cut`, async () => {
      await using server = await startBrokenServer({
        answer: async (call) => {
          const stream = openStream(call);
          const text = wholeTask.map((event) => stream.encode(event).toString()).join("");
          for (const byte of Buffer.from(encode(text))) await stream.sendRaw(Uint8Array.of(byte));
          stream.end();
        },
      });
      await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
      const stream = agent.stream("tell");
      await collect(stream);
      expect(stream.task?.status?.state).toBe(TaskState.COMPLETED);
      expect(stream.task?.artifacts[0]?.parts.map(({ content }) => content.value).join("")).toBe(wholeText);
      expect(server.calls).toEqual(["SendStreamingMessage"]);
    });
  }

  for (const status of [404, 405]) {
    verifies("K-1", `is subscribed to with POST, and with GET where that is ${status}`, async () => {
      const verbs: string[] = [];
      await using server = await startBrokenServer({
        answer: (call) => {
          verbs.push(call.request.method ?? "");
          if (call.request.method === "POST") return void call.response.writeHead(status).end();
          const stream = openStream(call);
          stream.send({ task: taskJson("TASK_STATE_WORKING") });
          stream.send(statusEvent("TASK_STATE_COMPLETED"));
          stream.end();
        },
      });
      await using agent = await connectAgent(server.url, { pinBinding: "HTTP+JSON" });
      expect(await collect(agent.follow(taskId))).toHaveLength(2);
      expect(verbs).toEqual(["POST", "GET"]);
    });
  }

  verifies("K-1", "is not subscribed to twice where POST does", async () => {
    await using server = await startBrokenServer({
      answer: (call) => {
        const stream = openStream(call);
        stream.send({ task: taskJson("TASK_STATE_WORKING") });
        stream.send(chunkEvent("hi", false));
        stream.send(statusEvent("TASK_STATE_COMPLETED"));
        stream.end();
      },
    });
    await using agent = await connectAgent(server.url, { pinBinding: "HTTP+JSON" });
    expect(await collect(agent.follow(taskId))).toHaveLength(3);
    expect(server.calls).toEqual(["SubscribeToTask"]);
  });

  for (const mediaType of [
    "application/a2a+json",
    "application/json",
    "application/json; charset=utf-8",
    "Application/A2A+JSON",
  ]) {
    verifies("K-3", `is read when it comes as ${mediaType}, and so are errors`, async () => {
      const headers = { "content-type": mediaType };
      const error = { code: 404, status: "NOT_FOUND", message: "no", details: [errorInfo("TASK_NOT_FOUND")] };
      await using server = await startBrokenServer({
        answer: ({ attempt, response }) =>
          attempt === 1
            ? respondJson(response, taskJson("TASK_STATE_WORKING"), 200, headers)
            : respondJson(response, { error }, 404, headers),
      });
      await using agent = await connectAgent(server.url, { pinBinding: "HTTP+JSON" });
      expect((await agent.getTask(taskId)).status?.state).toBe(TaskState.WORKING);
      expect(findA2AError(await failureOf(agent.getTask(taskId)))?.reason).toBe("TASK_NOT_FOUND");
    });
  }
});

/** Answers every call with an error: over HTTP+JSON with this status, over JSON-RPC with this code. */
function failing(status: number, code: number, details: JsonValue[]): Answer {
  return ({ binding, id, response }) =>
    binding === "JSONRPC"
      ? respondJson(response, { jsonrpc: "2.0", id, error: { code, message: "no", data: details } })
      : respondJson(response, { error: { code: status, status: "UNKNOWN", message: "no", details } }, status);
}

function errorInfo(reason: string): JsonObject {
  return { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" };
}

function oddMessage(): JsonObject {
  return {
    kind: "message",
    messageId: "m",
    role: "ROLE_AGENT",
    parts: [{ text: "hi", kind: "text", mood: { good: true } }],
  };
}

function oddUpdate(odd: (members: JsonObject) => JsonObject): JsonObject {
  const { statusUpdate } = statusEvent("TASK_STATE_COMPLETED", { mood: null });
  return odd({ statusUpdate: odd({ ...(statusUpdate as JsonObject), final: true }) }); // it is an object
}
