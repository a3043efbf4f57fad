import { A2AService, TaskState } from "@a2a-connect/proto";
import { type Client, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";
import { sendTask } from "../test-support/tasks.ts";
import { type AgentServer, createAgentServer } from "./agent-server.ts";
import { systemClock } from "./engine/clock.ts";
import { defaultEngineLimits } from "./engine/engine-context.ts";

describe("createAgentServer", () => {
  it.each([
    [
      "at once",
      () => {
        throw new Error("the log failed");
      },
    ],
    ["later", () => Promise.reject(new Error("the log failed"))],
  ])("goes on when the operator's log fails %s", async (_, log) => {
    const server = createAgentServer({
      agent: {
        card: { name: "Agent" },
        async *execute(turn) {
          yield turn.working();
          throw new Error("the agent failed");
        },
      },
      assumeVersion: "1.0",
      log,
    });
    expect((await sendTask(await connect(server))).status?.state).toBe(TaskState.FAILED);
  });

  it("says in its log that a line of the audit could not be written, and goes on", async () => {
    const failure = new Error("the disk is full");
    const errors: unknown[] = [];
    const server = createAgentServer({
      agent: { card: { name: "Agent" }, execute: () => [] },
      assumeVersion: "1.0",
      audit: () => Promise.reject(failure),
      log: ({ error }) => errors.push(error),
    });
    expect((await sendTask(await connect(server))).status?.state).toBe(TaskState.COMPLETED);
    expect(errors).toContain(failure);
  });

  it("gives tasks and contexts ids that rise with time", async () => {
    let now = Date.UTC(2026, 10, 25);
    const agent = { card: { name: "Agent" }, execute: () => [] };
    const clock = { ...systemClock, now: () => now };
    const client = await connect(createAgentServer({ agent, assumeVersion: "1.0", clock }));
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const { id, contextId } = await sendTask(client);
      ids.push(id, contextId);
      now += 1;
    }
    const times = ids.map((id) => id.slice(0, 13));
    expect(times).toEqual(["0", "0", "1", "1", "2", "2"].map((digit) => `01a21000-880${digit}`));
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(6);
  });

  it.each(Object.keys(defaultEngineLimits))("has its default for %s when that is undefined", async (name) => {
    const agent = { card: { name: "Agent" }, execute: () => [] };
    const limits: object = { [name]: undefined }; // as programs without exactOptionalPropertyTypes may
    const server = createAgentServer({ agent, assumeVersion: "1.0", limits });
    expect((await sendTask(await connect(server))).status?.state).toBe(TaskState.COMPLETED);
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

/** A client of a started server, which is closed when the test ends. */
async function connect(server: AgentServer): Promise<Client<typeof A2AService>> {
  await server.start();
  onTestFinished(() => server.close());
  const calls = Object.entries(server.service.methods).map(([name, { impl }]) => [name, impl]);
  return createClient(
    A2AService,
    createRouterTransport(({ service }) => service(A2AService, Object.fromEntries(calls))),
  );
}
