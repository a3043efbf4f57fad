// Callers of A2A 0.3, which has no tenants, and several agents on one port: the official JavaScript client of 0.3.
import { randomUUID } from "node:crypto";
import type { ServedAgents } from "@a2a-connect/node";
import type { Task } from "@a2a-js/sdk-0.3";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk-0.3/client";
import { GrpcTransportFactory } from "@a2a-js/sdk-0.3/client/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Name, serveBoth } from "./hosted-agents.ts";

let served: ServedAgents<Name>;
beforeAll(async () => {
  served = await serveBoth({ default: "alpha" });
});
afterAll(() => served.close({ graceMs: 0 }));

const transports = [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()];

/** Who answers the official client over a transport, which takes another one where the card does not offer it. */
async function answerOf(url: string, transport: string): Promise<string | undefined> {
  const factory = new ClientFactory({
    transports: transports.filter(({ protocolName }) => protocolName === transport),
    preferredTransports: [transport],
  });
  const client = await factory.createFromUrl(url);
  const parts = [{ kind: "text" as const, text: "who" }];
  const message = { kind: "message" as const, messageId: randomUUID(), role: "user" as const, parts };
  const task = (await client.sendMessage({ message })) as Task; // these agents make tasks
  return task.artifacts?.[0]?.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

describe("a client of 0.3", () => {
  for (const transport of ["JSONRPC", "HTTP+JSON"]) {
    it(`reaches each of several agents below its path over ${transport}`, async () => {
      for (const name of ["alpha", "beta"] as const) {
        expect(await answerOf(`${served.agents[name].url}/`, transport)).toBe(name);
      }
    });
  }

  it("reaches the default agent over gRPC, where no agent can be named, and at the root", async () => {
    expect(await answerOf(`${served.agents.alpha.url}/`, "GRPC")).toBe("alpha");
    expect(await answerOf(served.url, "GRPC")).toBe("alpha");
    expect(await answerOf(served.url, "JSONRPC")).toBe("alpha");
  });

  it("is not offered gRPC by the card of another agent", async () => {
    const card = await (await fetch(`${served.agents.beta.url}/.well-known/agent-card.json`)).json();
    expect(card.additionalInterfaces.map((each: { transport: string }) => each.transport)).toEqual([
      "JSONRPC",
      "HTTP+JSON",
    ]);
    await expect(answerOf(`${served.agents.beta.url}/`, "GRPC")).rejects.toThrow("No compatible transport");
  });

  it("is refused over gRPC where there is no default agent", async () => {
    const others = await serveBoth();
    const refused = await fetch(`${others.url}/a2a.v1.A2AService/SendMessage`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto" },
      body: new Uint8Array(5),
    });
    expect(decodeURIComponent(refused.headers.get("grpc-message") ?? "")).toMatch(/is of A2A 0\.3/);
    await others.close({ graceMs: 0 });
  });
});
