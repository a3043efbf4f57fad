// Agents, and what stands before them, that are asked too often: whoever may ask again does, when it was told to.

import { type AgentClient, type ConnectOptions, ContentTooLargeError } from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import { AgentCardSchema } from "@a2a-connect/proto";
import { fromJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { startBrokenGrpcServer } from "./broken-grpc-server.ts";
import { type Call, jsonBindings, respondJson, respondResult, startBrokenServer } from "./broken-server.ts";
import { answerWell, finishedTask, sendEvents, taskId, taskJson, wholeText } from "./broken-task.ts";
import { createLeapingClock } from "./client-clocks.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" };

/** What says "too often", and the wait in seconds that it asks for. */
const limiters: readonly (readonly [name: string, seconds: number, limit: (call: Call) => void])[] = [
  ["a proxy's page of status 429", 5, (call) => page(call, { "retry-after": "5" })],
  ["one without a time", 0, (call) => page(call)],
  ["one with a date", 8, (call) => page(call, { "retry-after": new Date(Date.now() + 8_500).toUTCString() })],
  ["the agent's own error with RetryInfo", 7, (call) => respondError(call, 200, [retryInfo])],
  ["the agent's own error of status 429", 0, (call) => respondError(call, 429, [])],
];

for (const pinBinding of jsonBindings) {
  describe(`over ${pinBinding}`, () => {
    describe.each(limiters)("%s", (_, seconds, limit) => {
      it("is asked again after the time that was named", async () => {
        await using server = await startBrokenServer({
          answer: (call) => (call.attempt === 1 ? limit(call) : answerWell(call)),
        });
        const waits: number[] = [];
        await using agent = await connect(server.url, { pinBinding, clock: recordingClock(waits) });
        expect(await agent.getTask(taskId)).toMatchObject({ id: taskId });
        expect(Math.max(...waits)).toBeGreaterThanOrEqual(Math.max(seconds * 1_000 - 1_000, 1));
        expect(server.calls).toEqual(["GetTask", "GetTask"]);
      });

      it("does not end what follows a task", async () => {
        const waits: number[] = [];
        await using server = await startBrokenServer({
          answer: (call) => {
            if (call.method === "SendStreamingMessage") {
              sendEvents(call, 1, [{ task: taskJson("TASK_STATE_WORKING") }]);
            } else if (call.attempt <= 2) {
              limit(call);
            } else {
              answerWell(call);
            }
          },
        });
        await using agent = await connect(server.url, { pinBinding, clock: recordingClock(waits) });
        expect((await agent.run("Go.")).text()).toBe(wholeText);
        expect(Math.max(...waits)).toBeGreaterThanOrEqual(seconds * 1_000 - 1_000);
      });

      it.each([
        ["run", (agent: AgentClient) => agent.run("Go.")],
        ["sendMessage", (agent: AgentClient) => agent.sendMessage("Go.")],
      ])("has not taken a message, and %s says what it was told", async (__, send) => {
        await using server = await startBrokenServer({ answer: limit });
        await using agent = await connect(server.url, { pinBinding });
        const thrown = await rejectedWith(send(agent), ConnectError);
        expect(thrown).toMatchObject({ rawMessage: expect.stringMatching(/slow down|429/) });
        expect(server.calls).toHaveLength(1);
      });
    });

    it("CAPACITY is an answer, which is not asked for again", async () => {
      const info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "CAPACITY",
        domain: "a2a-connect",
      };
      await using server = await startBrokenServer({ answer: (call) => respondError(call, 429, [info]) });
      await using agent = await connect(server.url, { pinBinding });
      expect(await failureOf(agent.getTask(taskId))).toMatchObject({ code: Code.ResourceExhausted });
      expect(server.calls).toHaveLength(1);
    });

    it("an answer beyond the limit is too large, and not asked for again", async () => {
      await using server = await startBrokenServer({ answer: (call) => respondResult(call, finishedTask) });
      await using agent = await connect(server.url, { pinBinding, maxResponseBytes: 32 });
      const thrown = await rejectedWith(agent.getTask(taskId), ContentTooLargeError);
      expect(thrown).toMatchObject({ maxBytes: 32, hint: expect.stringContaining("maxResponseBytes") });
      expect(server.calls).toHaveLength(1);
    });
  });
}

describe("over GRPC", () => {
  it("a proxy's status 429 is the same as on the other wires", async () => {
    await using server = await startBrokenGrpcServer((stream) => {
      stream.respond({ ":status": 429, "retry-after": "5" }, { endStream: true });
    });
    const waits: number[] = [];
    const card = fromJson(AgentCardSchema, server.card, { ignoreUnknownFields: true });
    await using agent = await connectAgent(card, { clock: recordingClock(waits), retry: { attempts: 2 } });
    expect(await failureOf(agent.getTask(taskId))).toMatchObject({ code: Code.ResourceExhausted });
    expect(Math.max(...waits)).toBe(5_000);
    expect(server.calls).toHaveLength(2);
    const refused = await rejectedWith(agent.sendMessage("Go."), ConnectError);
    expect(refused).toMatchObject({ code: Code.ResourceExhausted });
    expect(server.calls).toHaveLength(3);
  });
});

function connect(url: string, options: ConnectOptions): Promise<AgentClient> {
  return connectAgent(url, { clock: createLeapingClock(10_000), retry: { attempts: 2 }, ...options });
}

/** All waits between attempts are over at once. */
function recordingClock(waits: number[]): NonNullable<ConnectOptions["clock"]> {
  const clock = createLeapingClock(10_000);
  return {
    ...clock,
    sleep(ms, signal) {
      if (ms < 10_000) waits.push(ms);
      return clock.sleep(ms, signal);
    },
  };
}

function page({ response }: Call, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(429, { "content-type": "text/html", ...headers });
  response.end("<html>Slow down.</html>");
}

function respondError(
  { binding, id, response }: Call,
  status: number,
  details: (typeof retryInfo | object)[],
) {
  const body =
    binding === "JSONRPC"
      ? { jsonrpc: "2.0", id, error: { code: -32603, message: "slow down", data: details } }
      : { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow down", details } };
  // The cast restates that the details of these tests are JSON.
  respondJson(response, JSON.parse(JSON.stringify(body)), binding === "JSONRPC" ? status : 429);
}
