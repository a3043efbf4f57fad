import { isTerminal, readLifecycleReport } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { Role, type StreamResponse, TaskState } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { launchAgent, startAgent, storeFile, temporaryDirectory } from "./agent-process.ts";
import { createClients } from "./clients.ts";

function userMessage(text: string) {
  const parts = [{ content: { case: "text" as const, value: text } }];
  return { messageId: crypto.randomUUID(), role: Role.USER, parts };
}

describe("SIGTERM", () => {
  it("ends the agent with code 0 while streams are open; the next one fails turns and goes on with durable tasks", {
    timeout: 60_000,
  }, async () => {
    const dataDir = temporaryDirectory();
    const agent = await startAgent(dataDir);
    using clients = createClients(agent.url);
    // One that waits, one that ignores its signal, one that is always at work; over each wire in turn.
    const commands = ["sleep 600000", "hang", "stream 100000 20"];
    const streams = [...commands, ...commands].map((text) => {
      const events: StreamResponse[] = [];
      const atWork = Promise.withResolvers<void>();
      const read = async () => {
        for await (const event of clients.next().sendStreamingMessage({ message: userMessage(text) })) {
          events.push(event);
          if (events.length === 2) atWork.resolve();
        }
      };
      const over = read().catch(() => undefined); // a stream may end with an error when the server goes
      return { text, events, over, atWork: Promise.race([atWork.promise, over]) };
    });
    await Promise.all(streams.map(({ atWork }) => atWork));

    agent.signal("SIGTERM");
    const { code, signal, errors } = await agent.ended;
    await Promise.all(streams.map(({ over }) => over));
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(errors).not.toContain('"level":"error"');

    const next = await startAgent(dataDir);
    using callers = createClients(next.url);
    for (const { text, events } of streams) {
      const created = events[0]?.payload;
      const id = created?.case === "task" ? created.value.id : "";
      const task = await callers.next().getTask({ id });
      const { reason } = readLifecycleReport(task.status?.message?.metadata);
      if (text === "hang") {
        expect([text, task.status?.state, reason]).toEqual([text, TaskState.FAILED, "interrupted"]);
        continue;
      }
      expect([text, isTerminal(task.status?.state ?? TaskState.UNSPECIFIED)]).toEqual([text, false]);
      const headers = { [lastEventIdHeader]: "0" };
      const again: StreamResponse[] = [];
      for await (const event of callers.next().subscribeToTask({ id }, { headers })) {
        again.push(event);
        // What was shown before, and of the one that streams something that was not.
        if (again.length === events.length + (text.startsWith("stream") ? 1 : 0)) break;
      }
      expect(again.slice(0, events.length)).toStrictEqual(events);
      const canceled = await callers.next().cancelTask({ id });
      expect(canceled.status?.state).toBe(TaskState.CANCELED);
    }
    next.signal("SIGTERM");
    expect(await next.ended).toMatchObject({ code: 0, signal: null });
  });

  it("ends an agent that nobody uses with code 0", async () => {
    const agent = await startAgent(temporaryDirectory());
    agent.signal("SIGTERM");
    expect(await agent.ended).toEqual({ code: 0, signal: null, errors: "" });
  });
});

describe("a second agent on the same data directory", () => {
  it("says what is wrong and ends with an error, and the first goes on", async () => {
    const dataDir = temporaryDirectory();
    const first = await startAgent(dataDir);
    using clients = createClients(first.url);
    const { payload } = await clients.next().sendMessage({ message: userMessage("task first") });

    const second = await launchAgent(dataDir);
    if (!("code" in second)) throw new Error("the second agent is up");
    expect(second.code).toBe(1);
    expect(second.errors).toContain(storeFile(dataDir));
    expect(second.errors).toContain("another process");
    expect(second.errors).not.toMatch(/\n\s+at /);

    const id = payload.case === "task" ? payload.value.id : "";
    expect(await clients.next().getTask({ id })).toMatchObject({
      id,
      status: { state: TaskState.COMPLETED },
    });
    first.signal("SIGTERM");
    expect(await first.ended).toMatchObject({ code: 0 });
  });
});
