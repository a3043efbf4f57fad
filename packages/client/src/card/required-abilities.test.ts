import { lifecycleExtension } from "@a2a-connect/core";
import { describe, expect, it } from "vitest";
import { agentCard, cardJson02 } from "../../test-support/cards.ts";
import { RequirementError } from "../errors.ts";
import type { AgentRequirements } from "../options.ts";
import { readCard } from "./read-card.ts";
import { checkRequirements } from "./required-abilities.ts";

const card = agentCard({
  capabilities: { streaming: true, extensions: [{ uri: lifecycleExtension, params: { asks: true } }] },
  skills: [
    { id: "file", name: "File", description: "Files.", tags: [] },
    {
      id: "draw",
      name: "Draw",
      description: "Draws.",
      tags: [],
      inputModes: ["image/*"],
      outputModes: ["image/png"],
    },
  ],
});

function gapsOf(
  requires: AgentRequirements,
  of = card,
): { missing: readonly string[]; message: string } | undefined {
  try {
    checkRequirements(of, requires);
    return undefined;
  } catch (error) {
    if (error instanceof RequirementError) return error;
    throw error;
  }
}

describe("what is required of an agent", () => {
  for (const requires of [
    {},
    { streaming: true, inputRequired: true },
    { streaming: false, pushNotifications: false },
    { extensions: [lifecycleExtension] },
    { skills: ["file", "draw"] },
    { inputModes: ["text/plain"] },
    { inputModes: ["image/webp"] },
    { inputModes: ["text/*"] },
    { skills: ["draw"], inputModes: ["image/png"], outputModes: ["image/png"] },
    { skills: ["file"], inputModes: ["text/plain"], outputModes: ["application/json"] },
    { skills: ["file", "draw"], outputModes: ["image/png", "application/json"] },
  ] satisfies AgentRequirements[]) {
    it(`is there: ${JSON.stringify(requires)}`, () => {
      expect(gapsOf(requires)).toBeUndefined();
    });
  }

  for (const [requires, missing, offers] of [
    [{ pushNotifications: true }, ["pushNotifications"], "the capabilities streaming, inputRequired"],
    [{ extensions: ["urn:x", "urn:y"] }, ["extensions: urn:x", "extensions: urn:y"], lifecycleExtension],
    [{ skills: ["sing"] }, ["skills: sing"], "the skills file, draw"],
    [{ inputModes: ["audio/ogg"] }, ["inputModes: audio/ogg"], "the inputModes text/plain, image/*"],
    [{ skills: ["draw"], inputModes: ["text/plain"] }, ["inputModes: text/plain"], "the inputModes image/*"],
    [
      { skills: ["file"], outputModes: ["image/png"] },
      ["outputModes: image/png"],
      "text/plain, application/json",
    ],
    [
      { pushNotifications: true, skills: ["sing"] },
      ["pushNotifications", "skills: sing"],
      "the capabilities streaming, inputRequired; the skills file, draw",
    ],
  ] as const) {
    it(`is missing: ${missing.join(", ")}`, () => {
      const gaps = gapsOf(requires);
      expect(gaps?.missing).toEqual(missing);
      expect(gaps?.message).toContain(missing.join(", "));
      expect(gaps?.message).toContain(`Its card offers`);
      expect(gaps?.message).toContain(offers);
    });
  }

  it("is missing altogether in a card without anything", () => {
    const { capabilities: _, ...empty } = agentCard({ capabilities: {}, skills: [] });
    const gaps = gapsOf({ streaming: true, inputRequired: true, skills: ["file"] }, empty);
    expect(gaps?.missing).toEqual(["streaming", "inputRequired", "skills: file"]);
    expect(gaps?.message).toContain("the capabilities none");
  });

  it("may be a question in the middle of a task, declared by an older card", async () => {
    const { card: older } = await readCard(JSON.stringify(cardJson02));
    expect(gapsOf({ inputRequired: true }, older)).toBeUndefined();
    expect(gapsOf({ inputRequired: true }, agentCard())?.missing).toEqual(["inputRequired"]);
  });

  it("is told in words that no terminal obeys", () => {
    const gaps = gapsOf({ skills: ["sing"] }, agentCard({ name: "\u001b[31mRed\u001b[0m" }));
    expect(gaps?.message).toMatch(/^Red lacks/);
  });
});
