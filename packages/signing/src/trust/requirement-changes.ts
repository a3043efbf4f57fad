import { formatFieldPath } from "@a2a-connect/core";
import type { CardSecurity, DeclaredSkill, Requirement } from "./card-security.ts";
import { ComparisonBudget } from "./comparison-budget.ts";
import { quote, quoteList, type SecurityFinding } from "./finding.ts";
import { findMissingDemands, type MissingDemands } from "./missing-demands.ts";
import { type Alternative, createListReader, type RequirementList } from "./requirement-list.ts";

/** Most alternatives, of a card or of one of its skills, of which others can be told to be weaker. */
const maxAlternatives = 256;

/** Most lists of requirements, of a card and of its skills, that may have changed. */
const maxLists = 1_000;

/**
 * What callers need not present any more. Requirements are alternatives, each of which may demand several schemes together
 * (requirement L-9): they are weaker when somebody meets one of them who met none of those before. So an alternative may be
 * dropped, or demand more, but there must not be a new one that demands less than each of the old ones.
 *
 * A scheme may be replaced by the same under another name, or by a stronger one. A skill without requirements has those of its
 * card; a skill that is new is weaker than nothing.
 *
 * What has not changed is told in linear time, whatever its size. Changes beyond some limits are not compared, but are one finding.
 */
export function findWeakerRequirements(before: CardSecurity, after: CardSecurity): SecurityFinding[] {
  const compare = createComparison(before.schemes, after.schemes);
  const findings: SecurityFinding[] = [];
  for (const place of placesOf(before, after)) {
    const compared = compare(place.was, place.now);
    const path = formatFieldPath(place.path);
    if (compared === "too-many-requirements") {
      const text = `${place.opening}There are too many requirements to be compared with those before.`;
      return [...findings, { text, path }];
    }
    if (compared === "too-many-lists") {
      const text = "There are too many skills to be compared with those before.";
      return [...findings, { text, path: "skills" }];
    }
    findings.push(...compared.map(({ text, below }) => tell(place, text, below)));
  }
  return findings;
}

/** Where there are requirements: in a card, or in one of its skills. */
interface Place {
  readonly was: readonly Requirement[];
  readonly now: readonly Requirement[];
  readonly opening: string;
  readonly path: readonly (string | number)[];
}

function tell({ opening, path }: Place, text: string, below: readonly number[]): SecurityFinding {
  return { text: opening + text, path: formatFieldPath([...path, ...below]) };
}

function* placesOf(before: CardSecurity, after: CardSecurity): Generator<Place> {
  yield { was: before.requirements, now: after.requirements, opening: "", path: ["securityRequirements"] };
  const findCounterpart = createCounterparts(before.skills);
  for (const [index, skill] of after.skills.entries()) {
    const was = findCounterpart(skill.id);
    if (was !== undefined && (was.requirements.length > 0 || skill.requirements.length > 0)) {
      yield {
        was: demandsOf(was, before),
        now: demandsOf(skill, after),
        opening: `For the skill ${quote(skill.id)}: `,
        path: ["skills", index, "securityRequirements"],
      };
    }
  }
}

/** By id. Where several skills have the same, which they must not, each has its own, and those that are new have the first. */
function createCounterparts(skills: readonly DeclaredSkill[]): (id: string) => DeclaredSkill | undefined {
  const byId = Map.groupBy(skills, ({ id }) => id);
  const asked = new Map<string, number>();
  return (id) => {
    const nth = asked.get(id) ?? 0;
    asked.set(id, nth + 1);
    const sameId = byId.get(id);
    return sameId?.[nth] ?? sameId?.[0];
  };
}

function demandsOf({ requirements }: DeclaredSkill, card: CardSecurity): readonly Requirement[] {
  return requirements.length === 0 ? card.requirements : requirements;
}

interface WeakerAlternative {
  readonly text: string;
  /** Path within the requirements. */
  readonly below: readonly number[];
}

type Comparison = readonly WeakerAlternative[] | "too-many-requirements" | "too-many-lists";

/** Finds weaker alternatives. All calls together compare no more than they may. */
function createComparison(
  schemesBefore: CardSecurity["schemes"],
  schemesAfter: CardSecurity["schemes"],
): (was: readonly Requirement[], now: readonly Requirement[]) => Comparison {
  const read = createListReader();
  const budget = new ComparisonBudget();
  let changedLists = 0;

  /** Undefined when the alternative demands all that one of the old ones did; else what it lacks of the most similar one. */
  const findLeastMissing = (now: Requirement, before: RequirementList): MissingDemands | undefined => {
    let least: MissingDemands | undefined;
    for (const { requirement: was } of before.alternatives) {
      const missing = findMissingDemands({ was, now, schemesBefore, schemesAfter }, budget);
      if (missing.size === 0 || budget.isExhausted) {
        return undefined;
      }
      if (least === undefined || missing.size < least.size) {
        least = missing;
      }
    }
    return least;
  };

  return (was, now) => {
    const [before, after] = [read(was), read(now)];
    if (before.demandsNothing) {
      return [];
    }
    if (after.alternatives.length === 0) {
      return [{ text: "No credentials are demanded any more.", below: [] }];
    }
    budget.spend(after.alternatives.length);
    if (budget.isExhausted) {
      return "too-many-requirements";
    }
    const changed = after.alternatives.filter(({ identity }) => !before.identities.has(identity));
    if (changed.length === 0) {
      return [];
    }
    changedLists++;
    if (changedLists > maxLists) {
      return "too-many-lists";
    }
    if (!isComparable(before.alternatives) || !isComparable(changed)) {
      return "too-many-requirements";
    }
    const weaker = changed.flatMap(({ requirement, index }) => {
      const missing = budget.isExhausted ? undefined : findLeastMissing(requirement, before);
      return missing === undefined ? [] : [{ text: describe(requirement, missing), below: [index] }];
    });
    return budget.isExhausted ? "too-many-requirements" : weaker;
  };
}

function isComparable(alternatives: readonly Alternative[]): boolean {
  return alternatives.length <= maxAlternatives && !alternatives.some(({ isOversized }) => isOversized);
}

function describe(now: Requirement, missing: MissingDemands): string {
  if (now.size === 0) {
    return "Callers are let in without credentials.";
  }
  const gone = [...missing].map(([name, what]) =>
    what === "scheme"
      ? `the security scheme ${quote(name)}`
      : `${what.length === 1 ? "the scope" : "the scopes"} ${quoteList(what)} of ${quote(name)}`,
  );
  const shown = gone.slice(0, 5).join(", ") + (gone.length > 5 ? ` and ${gone.length - 5} more` : "");
  return `Callers are let in with ${quoteList([...now.keys()])}, without ${shown}.`;
}
