import { A2AService, TaskState } from "@a2a-connect/proto";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { sendTask } from "../test-support/tasks.ts";
import { createAgentServer } from "./agent-server.ts";

describe("createAgentServer", () => {
  it("goes on when the operator's log fails", async () => {
    const server = createAgentServer({
      agent: {
        card: { name: "Agent" },
        async *execute(turn) {
          yield turn.working();
          throw new Error("the agent failed");
        },
      },
      assumeVersion: "1.0",
      log: () => {
        throw new Error("the log failed");
      },
    });
    await server.start();
    const calls = Object.entries(server.service.methods).map(([name, { impl }]) => [name, impl]);
    const transport = createRouterTransport(({ service }) => service(A2AService, Object.fromEntries(calls)));
    const client = createClient(A2AService, transport);
    expect((await sendTask(client)).status?.state).toBe(TaskState.FAILED);
    await server.close();
  });

  it.each([
    "agents.example",
    "ftp://agents.example",
    "https://me:secret@agents.example",
    "https://a.example/?q=1",
  ])("refuses %s as its public URL", (publicUrl) => {
    const agent = { card: { name: "Agent" }, execute: () => [] };
    expect(() => createAgentServer({ agent, publicUrl })).toThrow("without user, query or fragment");
  });
});
