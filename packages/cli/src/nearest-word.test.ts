import { expect, it } from "vitest";
import { findNearestWord } from "./nearest-word.ts";

for (const [word, words, nearest] of [
  ["gett", ["list", "get"], "get"],
  ["sned", ["card", "send"], "send"],
  ["snde", ["card", "send"], undefined], // half of it is wrong
  ["legal-agnet", ["legal-agents", "legal-agent"], "legal-agent"],
  ["AGENTCARD", ["agent-card"], "agent-card"],
  ["x", ["y"], "y"],
  ["nonsense", ["send", "new"], undefined],
  ["anything", [], undefined],
] as const) {
  it(`${word} is meant for ${nearest ?? "none"} of ${words.join(", ") || "nothing"}`, () => {
    expect(findNearestWord(word, words)).toBe(nearest);
  });
}
