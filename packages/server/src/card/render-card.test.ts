import { describe, expect, it } from "vitest";
import { withoutSkills } from "./render-card.ts";

const skill = (id: string) => ({ id, name: id, description: id });

describe("the version of a card without some skills", () => {
  for (const { version, disabled, expected } of [
    { version: "1.2.0", disabled: ["translate"], expected: "1.2.0+off.translate" },
    { version: "1.2.0", disabled: ["sum-up", "translate"], expected: "1.2.0+off.translate.sum-up" },
    { version: "1.2.0-rc.1", disabled: ["translate"], expected: "1.2.0-rc.1+off.translate" },
    { version: "1.2.0+build.7", disabled: ["translate"], expected: "1.2.0+build.7.off.translate" },
    { version: undefined, disabled: ["translate"], expected: "0.0.0+off.translate" },
    { version: "1.2.0", disabled: ["a/b é"], expected: "1.2.0+off.a-2f-b-20--e9-" },
    { version: "1.2.0", disabled: [], expected: "1.2.0" },
    { version: "1.2.0", disabled: ["of another card"], expected: "1.2.0" },
  ]) {
    it(`is ${expected} without ${disabled.join(", ") || "none"}`, () => {
      const skills = ["translate", "sum-up", "a/b é"].map(skill);
      const card = { name: "Agent", skills, ...(version === undefined ? {} : { version }) };
      const shown = withoutSkills(card, disabled);
      expect(shown.version).toBe(expected);
      expect(shown.skills).toEqual(skills.filter(({ id }) => !disabled.includes(id)));
    });
  }
});
