// Our own client finds the card of one of several agents below its path, and names the tenant in every operation.
import type { AgentClient } from "@a2a-connect/client";
import type { ServedAgents } from "@a2a-connect/node";
import { connectAgent } from "@a2a-connect/node/client";
import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Name, say, serveBoth } from "./hosted-agents.ts";

let served: ServedAgents<Name>;
beforeAll(async () => {
  const extendedCard = { open: true, find: () => ({ name: "Extended" }) };
  served = await serveBoth({ push: { allow: ["localhost"] }, extendedCard });
});
afterAll(() => served.close({ graceMs: 0 }));

const bindings = [
  { pinBinding: "JSONRPC", tenant: "" },
  { pinBinding: "HTTP+JSON", tenant: "" },
  { pinBinding: "GRPC", tenant: "alpha" },
  { pinBinding: "urn:a2a-connect:binding:connect:v1", tenant: "alpha" },
  { pinBinding: "urn:a2a-connect:binding:grpc-web:v1", tenant: "alpha" },
];

describe.each(bindings)("a client over $pinBinding", ({ pinBinding, tenant }) => {
  it("reaches an agent by the URL it is below, with its tenant in every request (P-1)", async () => {
    const tenants = new Set<string>();
    const methods = new Set<string>();
    const note: Interceptor = (next) => async (request) => {
      methods.add(request.method.name);
      const messages: AsyncIterable<Message> | readonly Message[] = request.stream
        ? request.message
        : [request.message];
      const seen: Message[] = [];
      for await (const message of messages) {
        seen.push(message);
        tenants.add("tenant" in message ? String(message.tenant) : "none");
      }
      return next(request.stream ? { ...request, message: replay(seen) } : request);
    };
    await using agent = await connectAgent(served.agents.alpha.url, { pinBinding, interceptors: [note] });
    expect(agent.card.name).toBe("alpha");
    await useEverything(agent);
    expect([...methods].sort()).toEqual([
      "CancelTask",
      "CreateTaskPushNotificationConfig",
      "DeleteTaskPushNotificationConfig",
      "GetExtendedAgentCard",
      "GetTask",
      "GetTaskPushNotificationConfig",
      "ListTaskPushNotificationConfigs",
      "ListTasks",
      "SendMessage",
      "SendStreamingMessage",
      "SubscribeToTask",
    ]);
    expect([...tenants]).toEqual([tenant]);
  });
});

async function useEverything(agent: AgentClient): Promise<void> {
  const asked = await agent.rpc.sendMessage({ message: say("ask") });
  const id = asked.payload.case === "task" ? asked.payload.value.id : expect.unreachable("it is a task");
  await agent.rpc.getTask({ id });
  await agent.rpc.listTasks({});
  for await (const _ of agent.rpc.subscribeToTask({ id })) break;
  for await (const _ of agent.rpc.sendStreamingMessage({ message: say("go") })) break;
  const config = { taskId: id, id: "c", url: "http://localhost:1/hook" };
  await agent.rpc.createTaskPushNotificationConfig(config);
  await agent.rpc.getTaskPushNotificationConfig({ taskId: id, id: "c" });
  await agent.rpc.listTaskPushNotificationConfigs({ taskId: id });
  await agent.rpc.deleteTaskPushNotificationConfig({ taskId: id, id: "c" });
  await agent.rpc.cancelTask({ id });
  await agent.rpc.getExtendedAgentCard({});
}

async function* replay(messages: readonly Message[]): AsyncGenerator<Message> {
  yield* messages;
}
