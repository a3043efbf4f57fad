import { requirementGroups, requirements } from "../requirements.ts";
import type { Scenario } from "../scenario.ts";
import { CannotExamine } from "../target.ts";

const levels: ReadonlySet<string> = new Set(requirements.map(({ level }) => level));

/**
 * Which scenarios are meant by words: an id such as `A-1`, the letter of a group such as `A`, or a level such as `MUST`. A
 * scenario is meant by any of them; without words all are.
 *
 * @throws CannotExamine naming a word that is none of these
 */
export function chooseScenarios(words: readonly string[]): (scenario: Scenario) => boolean {
  const chosen = new Set<string>();
  for (const word of words) {
    const meant = requirements.filter(
      ({ id, level }) => id === word || level === word || id.replace(/-.*/, "") === word,
    );
    if (meant.length === 0) {
      throw new CannotExamine(
        "asked",
        `there is no requirement ${word}: an id such as A-1, a group (${Object.keys(requirementGroups).join(" ")}), or a level (${[...levels].join(" ")})`,
      );
    }
    for (const { id } of meant) chosen.add(id);
  }
  return ({ ids }) => words.length === 0 || ids.some((id) => chosen.has(id));
}
