import { hang, startReceiver } from "@a2a-connect/conformance";
import { defineAgent } from "@a2a-connect/server";
import { type A2AClient, say, startAgentHarness, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";

/** Asks after every message. */
const agent = defineAgent({
  card: { name: "Asker" },
  async *execute(turn) {
    yield turn.inputRequired("and then?");
  },
});

/** Starts a task whose first event goes to the webhook. */
async function withMessage(client: A2AClient, url: string): Promise<void> {
  const configuration = { taskPushNotificationConfig: { url } };
  await client.sendMessage({ ...say("go"), configuration });
}

/** Registers the webhook with a task, and brings about an event. */
async function withCall(client: A2AClient, url: string): Promise<void> {
  const { id: taskId } = taskOf(await client.sendMessage(say("go")));
  await client.createTaskPushNotificationConfig({ taskId, url });
  await client.sendMessage(say("on", { taskId }));
}

/** Registers the webhook with a later message, which brings about an event. */
async function withAnswer(client: A2AClient, url: string): Promise<void> {
  const { id: taskId } = taskOf(await client.sendMessage(say("go")));
  const configuration = { taskPushNotificationConfig: { url } };
  await client.sendMessage({ ...say("on", { taskId }), configuration });
}

describe("callers without credentials", () => {
  for (const [how, register] of [
    ["a task's first message", withMessage],
    ["a later message", withAnswer],
    ["a call", withCall],
  ] as const) {
    it(`are told apart when they register webhooks with ${how}: those that hang delay only their own`, async () => {
      await using receiver = await startReceiver();
      await using harness = await startAgentHarness({
        agent,
        trustedProxies: ["loopback"],
        push: { allow: ["127.0.0.1"], maxConcurrent: 16 }, // 8 to one origin, and of these 7 for one caller
      });
      const clientFrom = (address: string) =>
        harness.client("jsonrpc", { headers: { "x-forwarded-for": address } });
      receiver.replyNext(...Array.from({ length: 7 }, () => hang));
      for (let task = 1; task <= 20; task += 1) {
        await register(clientFrom("192.0.2.1"), `${receiver.url}/mallory`);
      }
      await receiver.until(({ length }) => length === 7);
      await register(clientFrom("192.0.2.2"), `${receiver.url}/bob`);
      await receiver.until((requests) => requests.some(({ path }) => path === "/bob"));
      expect(receiver.requests.filter(({ path }) => path === "/mallory")).toHaveLength(7);
    });
  }
});
