import { formatTaskState, lifecycleExtension, readLifecycleReport } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { defineAgent } from "@a2a-connect/server";
import { type AgentHarness, reasonOf, say, startAgentHarness, taskOf, wires } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";

/** An agent that echoes, and digs until the gate opens; it counts its diggers. */
function createDigger() {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  let begun = 0;
  const agent = defineAgent({
    card: {
      name: "Digger",
      version: "2.0.0",
      skills: [
        {
          id: "dig",
          name: "Dig",
          description: "Digs.",
          maxRunning: 2,
          maxQueued: 3,
          async *execute(turn) {
            begun += 1;
            running += 1;
            most = Math.max(most, running);
            yield turn.working();
            await gate.promise;
            running -= 1;
          },
        },
      ],
    },
    execute: (turn) => [turn.artifact({ name: "echo", text: turn.text })],
  });
  return { agent, open: () => gate.resolve(), counts: () => ({ begun, most }) };
}

const dig = { metadata: { [lifecycleExtension]: { skill: "dig" } } };

/** Starts digging over each wire in turn. Every task exists when this resolves; `ends` has how they ended. */
async function startDigging({ clients }: AgentHarness, count: number) {
  const ends: Promise<string>[] = [];
  for (let at = 0; at < count; at += 1) {
    const wire = wires[at % wires.length] ?? "grpc";
    const stream = clients[wire].sendStreamingMessage(say(`dig ${at}`, dig))[Symbol.asyncIterator]();
    const first = await stream.next();
    expect(first.value?.payload.case).toBe("task");
    ends.push(readEnd({ [Symbol.asyncIterator]: () => stream }));
  }
  return ends;
}

async function readEnd(
  stream: ReturnType<AgentHarness["clients"]["grpc"]["sendStreamingMessage"]>,
): Promise<string> {
  let state: TaskState = TaskState.UNSPECIFIED;
  for await (const { payload } of stream) {
    if (payload.case === "statusUpdate") state = payload.value.status?.state ?? state;
  }
  return formatTaskState(state);
}

describe("the capacity of a skill", () => {
  it("bounds what runs and waits over all wires together; what is beyond is REJECTED on each", async () => {
    const digger = createDigger();
    await using harness = await startAgentHarness({ agent: digger.agent, store: "sqlite" });
    const ends = await startDigging(harness, 5);
    expect(digger.counts()).toEqual({ begun: 2, most: 2 });
    for (const wire of wires) {
      const client = harness.clients[wire];
      const refused = taskOf(await client.sendMessage(say("too much", dig)));
      expect([wire, refused.status?.state]).toEqual([wire, TaskState.REJECTED]);
      const report = readLifecycleReport(refused.status?.message?.metadata);
      expect([wire, report]).toEqual([wire, { reason: "capacity", retryAfterSeconds: 2 }]);
      expect((await client.getTask({ id: refused.id })).status).toEqual(refused.status);
      expect(await readEnd(client.sendStreamingMessage(say("too much", dig)))).toBe("rejected");
      // Nobody else is held up.
      expect(taskOf(await client.sendMessage(say("echo"))).status?.state).toBe(TaskState.COMPLETED);
    }
    expect(digger.counts()).toEqual({ begun: 2, most: 2 });
    digger.open();
    expect(await Promise.all(ends)).toEqual(Array(5).fill("completed"));
    expect(digger.counts()).toEqual({ begun: 5, most: 2 });
  });
});

describe("a skill that is switched off", () => {
  it("is in no card any more, and its tasks are REJECTED on every wire, until it is on again", async () => {
    const digger = createDigger();
    digger.open();
    await using harness = await startAgentHarness({ agent: digger.agent });
    const path = "/.well-known/agent-card.json";
    const before = await harness.fetch(path);
    harness.skills.disable("dig");
    const after = await harness.fetch(path, {
      headers: { "if-none-match": before.headers.get("etag") ?? "" },
    });
    expect([after.status, await after.json()]).toMatchObject([200, { version: "2.0.0+off.dig", skills: [] }]);
    for (const wire of wires) {
      const task = taskOf(await harness.clients[wire].sendMessage(say("dig", dig)));
      expect([wire, task.status?.state, reasonOf(task)]).toEqual([
        wire,
        TaskState.REJECTED,
        "skill-unavailable",
      ]);
    }
    expect(digger.counts().begun).toBe(0);
    harness.skills.enable("dig");
    const task = taskOf(await harness.clients.jsonrpc.sendMessage(say("dig", dig)));
    expect(task.status?.state).toBe(TaskState.COMPLETED);
    const again = await harness.fetch(path);
    expect(again.headers.get("etag")).toBe(before.headers.get("etag"));
  });
});
