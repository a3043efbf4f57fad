import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "./agent-definition.ts";
import { AgentHistory } from "./agent-history.ts";

const define = (version: string): AgentDefinition => ({
  card: { name: "Agent", version },
  execute: () => [],
});

describe("the definitions of an agent", () => {
  it("give each task the one it was created under, however fast they follow each other", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(2), fc.boolean())), (steps) => {
        const history = new AgentHistory(define("0"));
        const created: { readonly agent: AgentDefinition; readonly at: number }[] = [];
        let now = 1_000;
        for (const [pause, changes] of steps.slice(0, 90)) {
          now += pause;
          if (changes) history.redefine(define(String(now)), now);
          const agent = history.current;
          created.push({ agent, at: history.creationTime(agent, now) });
        }
        for (const { agent, at } of created) {
          expect(history.createdAt(at)).toBe(agent);
        }
      }),
    );
  });

  it("give a task that was begun under an older one that older one", () => {
    const [old, young] = [define("1"), define("2")];
    const history = new AgentHistory(old);
    history.redefine(young, 50);
    expect(history.createdAt(history.creationTime(old, 200))).toBe(old);
    expect(history.createdAt(history.creationTime(young, 10))).toBe(young);
  });

  it("tell without the time of creation where there is only one to tell", () => {
    const [old, young] = [define("1"), define("2")];
    const history = new AgentHistory(old);
    expect(history.createdBy(9_999)).toBe(old);
    history.redefine(young, 50);
    expect([history.createdBy(50), history.createdBy(51)]).toEqual([old, undefined]);
  });

  it("are bounded: what is older is run by the oldest that is left, and said to be", () => {
    const history = new AgentHistory(define("first"));
    const redefine = (from: number, to: number) => {
      for (let now = from; now <= to; now += 1) history.redefine(define(String(now)), now * 10);
    };
    redefine(1, 999);
    expect(history.createdAt(0).card.version).toBe("first");
    expect([history.isForgotten(0), history.createdBy(10)?.card.version]).toEqual([false, "first"]);
    redefine(1_000, 1_050);
    expect([history.createdAt(0).card.version, history.isForgotten(0)]).toEqual(["51", true]);
    expect([history.createdAt(511).card.version, history.isForgotten(511)]).toEqual(["51", false]);
    expect([history.isForgotten(510), history.createdBy(510)]).toEqual([true, undefined]);
    expect(history.createdAt(10_501).card.version).toBe("1050");
  });
});
