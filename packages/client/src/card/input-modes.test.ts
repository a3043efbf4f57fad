import { bytes, fileUrl, json, text } from "@a2a-connect/core";
import { describe, expect, it } from "vitest";
import { agentCard } from "../../test-support/cards.ts";
import { InputModeError, RequirementError } from "../errors.ts";
import { checkInputModes } from "./input-modes.ts";

const card = agentCard({
  defaultInputModes: ["text/plain"],
  skills: [
    { id: "file", name: "File", description: "Files.", tags: [] },
    {
      id: "draw",
      name: "Draw",
      description: "Draws.",
      tags: [],
      inputModes: ["image/*", "application/json"],
    },
    { id: "keep", name: "Keep", description: "Keeps.", tags: [], inputModes: ["application/octet-stream"] },
  ],
});
const picture = bytes(new Uint8Array([1]), { mediaType: "image/png" });
const sound = fileUrl("https://clerk.example/x.ogg", { mediaType: "audio/ogg" });

describe("parts that an agent takes (L-8)", () => {
  for (const [what, parts, skill] of [
    ["text, by the card's modes", [text("x")], "file"],
    ["text, without a skill", [text("x")], undefined],
    ["a picture, by a range of the skill", [picture], "draw"],
    ["data", [json({ x: 1 })], "draw"],
    ["whatever one of the skills takes, without a skill", [text("x"), picture, json(1)], undefined],
    ["a file of any type as bytes", [sound, picture], "keep"],
    ["nothing", [], "draw"],
  ] as const) {
    it(`pass: ${what}`, () => {
      expect(() => checkInputModes(card, parts, skill)).not.toThrow();
    });
  }

  it("are all, where the card lists none", () => {
    const open = agentCard({ defaultInputModes: [] });
    expect(() => checkInputModes(open, [sound], "file")).not.toThrow();
    expect(() => checkInputModes(open, [sound])).not.toThrow();
  });
});

describe("parts that an agent does not take", () => {
  for (const [parts, skill, refused, taken] of [
    [[text("x")], "draw", ["text/plain"], "image/*, application/json"],
    [[picture, text("x"), picture], "file", ["image/png"], "text/plain"],
    [[text("x")], "keep", ["text/plain"], "application/octet-stream"],
    [[text("x", { mediaType: "text/markdown" })], undefined, ["text/markdown"], "text/plain"],
  ] as const) {
    it(`are named with what it takes: ${refused.join(", ")} for ${skill ?? "any skill"}`, () => {
      let thrown: unknown;
      try {
        checkInputModes(card, parts, skill);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(InputModeError);
      expect(thrown).toMatchObject({ mediaTypes: refused });
      expect(String(thrown)).toContain(refused.join(", "));
      expect(String(thrown)).toContain(taken);
    });
  }
});

it("a skill that the card does not have is an error that names those it has", () => {
  expect(() => checkInputModes(card, [], "sing")).toThrow(RequirementError);
  expect(() => checkInputModes(card, [], "sing")).toThrow(/no skill sing.*file, draw, keep/);
});
