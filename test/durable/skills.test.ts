// Which executor of the reference agent a message gets.

import { lifecycleExtension, userMessage } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createReferenceAgent } from "@a2a-connect/reference-agent";
import { createEngineHarness, reasonOf, say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";

const agent = createReferenceAgent("full");

describe("the skill of a message", () => {
  it.each([
    ["echo hello", "commands"],
    ["task hello", "commands"],
    ["burst 3", "commands"],
    ["turn slowly", "commands"],
    ["anything else", "commands"],
    ["stream 3", "durable-commands"],
    ["stream 3 10", "durable-commands"],
    ["replace 3 1", "durable-commands"],
    ["sleep 10", "durable-commands"],
    ["steps 3 10", "durable-commands"],
    ["ask Why?", "durable-commands"],
    ["auth", "durable-commands"],
    ["turn-restart slowly", "restarting-commands"],
  ])("follows from its text: %s", (text, skill) => {
    expect(agent.route?.(userMessage(text, { messageId: "m" }))).toBe(skill);
  });

  it.each([
    ["tck-message-response-1", "commands"],
    ["tck-stream-001-1", "durable-commands"],
    ["tck-artifact-file-url-1", "durable-commands"],
    ["test-resubscribe-message-id-1", "durable-commands"],
  ])("follows from its id, whatever it says: %s", (messageId, skill) => {
    expect(agent.route?.(userMessage("turn-restart x", { messageId }))).toBe(skill);
  });
});

describe("a skill that the caller names", () => {
  const named = (skill: string) => ({ metadata: { [lifecycleExtension]: { skill } } });

  it("does what it knows, and echoes what nobody knows", async () => {
    const { client } = await createEngineHarness({ agent });
    const done = taskOf(await client.sendMessage(say("replace 3 1", named("durable-commands"))));
    expect([done.status?.state, done.artifacts[0]?.artifactId]).toEqual([TaskState.COMPLETED, "replaced"]);
    for (const skill of ["commands", "durable-commands", "restarting-commands"]) {
      const echoed = taskOf(await client.sendMessage(say("hello", named(skill))));
      expect([skill, echoed.status?.state, echoed.artifacts[0]?.name]).toEqual([
        skill,
        TaskState.COMPLETED,
        "echo",
      ]);
    }
  });

  it("rejects what is another's, and says whose", async () => {
    const { client } = await createEngineHarness({ agent });
    const task = taskOf(await client.sendMessage(say("ask Why?", named("restarting-commands"))));
    expect([task.status?.state, reasonOf(task)]).toEqual([TaskState.REJECTED, "other-skill"]);
    expect(task.status?.message?.parts[0]?.content.value).toContain("durable-commands");
  });

  it("refuses numbers that are too large", async () => {
    const { client } = await createEngineHarness({ agent });
    const task = taskOf(await client.sendMessage(say("steps 1001 0")));
    expect([task.status?.state, reasonOf(task)]).toEqual([TaskState.REJECTED, "out-of-range"]);
  });
});
