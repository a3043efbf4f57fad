import { connectAgent, TaskFailedError } from "@a2a-connect/client";
import { text } from "@a2a-connect/core";
import { defineAgent } from "@a2a-connect/server";
import { startAgentHarness } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";

const asker = defineAgent({
  card: { name: "Asker", description: "Asks." },
  async *execute(turn) {
    if (turn.text === "fail") return yield turn.fail("no", { reason: "because" });
    if (turn.text === "start") return yield turn.inputRequired("name?");
    for (let i = 0; i < 5; i++) yield turn.append("out", `${turn.text}${i} `);
  },
});

describe("run", () => {
  it("answers a question and reads the artifact", async () => {
    await using harness = await startAgentHarness({ agent: asker });
    await using agent = await connectAgent(harness.url);
    const states: number[] = [];
    const result = await agent.run("start", {
      onInputRequired: ({ text: asked }) => [text(`${asked}me`)],
      onProgress: ({ status }) => void states.push(status?.state ?? 0),
    });
    expect(result.text()).toBe("name?me0 name?me1 name?me2 name?me3 name?me4 ");
    expect(states).toEqual([6, 2, 3]);
  });
  it("throws", async () => {
    await using harness = await startAgentHarness({ agent: asker });
    await using agent = await connectAgent(harness.url);
    await expect(agent.run("fail")).rejects.toThrow(TaskFailedError);
  });
});
