import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent } from "./agent-definition.ts";

const execute = () => [];
const skill = { id: "a", name: "A", description: "does a" };

describe("defineAgent", () => {
  const whole: readonly (readonly [string, AgentDefinition])[] = [
    ["one executor", { card: { name: "Agent" }, execute }],
    ["skills without code of their own", { card: { name: "Agent", skills: [skill] }, execute }],
    ["skills that all have code", { card: { name: "Agent", skills: [{ ...skill, execute }] } }],
  ];
  for (const [what, definition] of whole) {
    it(`takes ${what}`, () => expect(defineAgent(definition)).toBe(definition));
  }

  const lacking: readonly (readonly [string, AgentDefinition, RegExp])[] = [
    ["a name", { card: { name: "" }, execute }, /needs a name/],
    ["a description", { card: { name: "Agent", description: "" }, execute }, /description.*leave it out/],
    [
      "a description of a skill",
      { card: { name: "Agent", skills: [{ ...skill, description: "" }] }, execute },
      /description of skill "a"/,
    ],
    [
      "a name of a skill",
      { card: { name: "Agent", skills: [{ ...skill, name: "" }] }, execute },
      /"a".*name/,
    ],
    ["code", { card: { name: "Agent" } }, /needs code/],
    [
      "code for a skill",
      {
        card: {
          name: "Agent",
          skills: [
            { ...skill, execute },
            { ...skill, id: "b" },
          ],
        },
      },
      /"b"/,
    ],
    [
      "an id of a skill",
      { card: { name: "Agent", skills: [{ ...skill, id: "" }] }, execute },
      /unique and not empty/,
    ],
    ["different ids", { card: { name: "Agent", skills: [skill, skill] }, execute }, /"a" is not/],
  ];
  for (const [what, definition, message] of lacking) {
    it(`names what is missing: ${what}`, () => expect(() => defineAgent(definition)).toThrow(message));
  }
});
