// A page that uses the client as anybody would: nothing but the URL of the agent.
import { type AgentClient, connectAgent } from "@a2a-connect/client";
import { StreamResponseSchema } from "@a2a-connect/proto";
import { toJson } from "@bufbuild/protobuf";
import "./page-api.ts";

let agent: AgentClient;

globalThis.clientPage = {
  async connect(agentUrl, pinBinding, pinVersion) {
    agent = await connectAgent(agentUrl, {
      pinBinding,
      pinVersion,
      retry: { initialDelayMs: 50, maxDelayMs: 200 }, // the test restarts the agent at once
    });
    const { protocolBinding: binding, protocolVersion: version } = agent.interface;
    return { name: agent.card.name, binding, version };
  },
  async run(text) {
    const result = await agent.run(text, { onInputRequired: ({ text: question }) => answer(question) });
    return result.text();
  },
  async stream(text) {
    for await (const event of agent.stream(text)) {
      await delivered(toJson(StreamResponseSchema, event));
    }
  },
};
