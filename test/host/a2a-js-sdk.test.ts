// The official client reaches one of several agents by its card, over its three transports, and names the tenant.

import type { ServedAgents } from "@a2a-connect/node";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sending } from "../interop/sdk-requests.ts";
import { type Name, serveBoth } from "./hosted-agents.ts";

let served: ServedAgents<Name>;
beforeAll(async () => {
  served = await serveBoth();
});
afterAll(() => served.close({ graceMs: 0 }));

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"])("the official client over %s", (preferred) => {
  it.each(["alpha", "beta"] as const)("talks to the agent whose card it has: %s", async (name) => {
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()],
      preferredTransports: [preferred],
    });
    const cardUrl = `${served.agents[name].url}/.well-known/agent-card.json`;
    const client = await factory.createFromUrl(cardUrl, "");
    expect(client.transport.protocolName).toBe(preferred);
    const answer = await client.sendMessage(sending("go"));
    const text = "artifacts" in answer ? answer.artifacts[0]?.parts[0]?.content : undefined;
    expect(text).toEqual({ $case: "text", value: name });
  });
});
