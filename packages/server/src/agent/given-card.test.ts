import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "./agent-definition.ts";
import { withCard } from "./given-card.ts";

class Example {
  readonly icon = new Uint8Array([1]);
}

describe("an agent with a card of its own", () => {
  it("has copies of lists and plain objects, and the very functions and objects of classes", () => {
    const execute = () => [];
    const example = new Example();
    const skill = { id: "a", name: "A", description: "Does a.", tags: ["x"], execute, example };
    const agent: AgentDefinition = { card: { name: "Agent", skills: [skill] }, maxRunning: 3 };
    const given = withCard(agent, agent.card);
    expect(given).toEqual(agent);
    const [copied] = given.card.skills ?? [];
    expect(copied).not.toBe(skill);
    expect(copied?.tags).not.toBe(skill.tags);
    expect(copied?.execute).toBe(execute);
    expect(copied).toHaveProperty("example", example);
  });

  it("is still what its class makes it", () => {
    class Agent {
      readonly card = { name: "Agent" };
      execute() {
        return [];
      }
    }
    const given = withCard(new Agent(), { name: "Other" });
    expect(given).toBeInstanceOf(Agent);
    expect([given.card.name, typeof given.execute]).toEqual(["Other", "function"]);
  });
});
