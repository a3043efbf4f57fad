import { formatFieldPath } from "@a2a-connect/core";
import { type CardSecurity, type DeclaredSkill, demandsNothing, type Requirement } from "./card-security.ts";
import { type DeclaredScheme, undeclaredScheme } from "./declared-scheme.ts";
import { quote, quoteList, type SecurityFinding } from "./finding.ts";

/** Alternatives of which a caller must meet one, and the schemes that they name. */
type Demands = Pick<CardSecurity, "requirements" | "schemes">;

/** Comparisons of alternatives in all; a card that needs more is made to be hard to judge. */
const maxComparisons = 20_000;

/** Most schemes within one alternative that may be replaced by others. */
const maxReplaced = 8;

/**
 * What callers need not present any more. Requirements are alternatives, each of which may demand several schemes together
 * (requirement L-9): they are weaker when somebody meets one of them who met none of those before. So an alternative may be
 * dropped, or demand more, but there must not be a new one that demands less than each of the old ones.
 *
 * A scheme may be replaced by the same under another name, or by a stronger one. A skill without requirements has those of its
 * card; a skill that is new is weaker than nothing.
 */
export function findWeakerRequirements(before: CardSecurity, after: CardSecurity): SecurityFinding[] {
  const compare = createComparison();
  const findCounterpart = createCounterparts(before.skills);
  const ofCard = compare(before, after).map(({ text, path }) => ({
    text,
    path: formatFieldPath(["securityRequirements", ...path]),
  }));
  const ofSkills = after.skills.flatMap((skill, index) => {
    const was = findCounterpart(skill.id);
    if (was === undefined || (was.requirements.length === 0 && skill.requirements.length === 0)) {
      return [];
    }
    return compare(demandsOf(was, before), demandsOf(skill, after)).map(({ text, path }) => ({
      text: `For the skill ${quote(skill.id)}: ${text}`,
      path: formatFieldPath(["skills", index, "securityRequirements", ...path]),
    }));
  });
  return [...ofCard, ...ofSkills];
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

function demandsOf({ requirements }: DeclaredSkill, card: CardSecurity): Demands {
  return {
    requirements: requirements.length === 0 ? card.requirements : requirements,
    schemes: card.schemes,
  };
}

/** Finds weaker alternatives, with their paths within the requirements. All calls together compare no more than they may. */
function createComparison(): (before: Demands, after: Demands) => readonly WeakerAlternative[] {
  const identities = new WeakMap<Demands["requirements"], ReadonlySet<string>>();
  let left = maxComparisons;
  return (before, after) => {
    if (demandsNothing(before.requirements)) {
      return [];
    }
    if (after.requirements.length === 0) {
      return [{ text: "No credentials are demanded any more.", path: [] }];
    }
    const known = identities.get(before.requirements) ?? new Set(before.requirements.map(identify));
    identities.set(before.requirements, known);
    left -= after.requirements.length;
    const changed =
      left < 0 ? [] : [...after.requirements.entries()].filter(([, now]) => !known.has(identify(now)));
    left -= changed.length * before.requirements.length;
    if (left < 0) {
      return [{ text: "There are too many requirements to be compared with those before.", path: [] }];
    }
    return changed.flatMap(([index, now]) => {
      const missing = findLeastMissing(now, before, after);
      return missing === undefined ? [] : [{ text: describe(now, missing), path: [index] }];
    });
  };
}

interface WeakerAlternative {
  readonly text: string;
  readonly path: readonly number[];
}

/** What an alternative does not demand any more, by the name of a scheme: the scheme itself, or scopes of it. */
type Missing = Map<string, "scheme" | readonly string[]>;

/** Undefined when the alternative demands all that one of the old ones did; else what it lacks of the most similar one. */
function findLeastMissing(now: Requirement, before: Demands, after: Demands): Missing | undefined {
  let least: Missing | undefined;
  for (const was of before.requirements) {
    const missing = findMissing(was, now);
    if (missing.size > 0) {
      allowReplacements(missing, was, now, before, after);
    }
    if (missing.size === 0) {
      return undefined;
    }
    if (least === undefined || missing.size < least.size) {
      least = missing;
    }
  }
  return least;
}

function findMissing(was: Requirement, now: Requirement): Missing {
  const missing: Missing = new Map();
  for (const [name, scopes] of was) {
    const demanded = now.get(name);
    const lacking = scopesWithout(scopes, demanded);
    if (demanded === undefined || lacking.length > 0) {
      missing.set(name, demanded === undefined ? "scheme" : lacking);
    }
  }
  return missing;
}

/** Takes out of `missing` what something stands for that was not demanded before; each stands for one. */
function allowReplacements(
  missing: Missing,
  was: Requirement,
  now: Requirement,
  before: Demands,
  after: Demands,
): void {
  const unused = new Map([...now].filter(([name]) => !was.has(name)));
  const gone = [...missing.keys()].filter((name) => missing.get(name) === "scheme");
  if (unused.size === 0 || unused.size > maxReplaced || gone.length > maxReplaced) {
    return;
  }
  // The same by another name first. What is left may then stand for others, the strongest for the strongest.
  for (const replaces of [isSame, isStronger]) {
    for (const name of byStrength(gone, before)) {
      const scopes = was.get(name);
      const found = byStrength([...unused.keys()], after).find((candidate) => {
        const [scheme, replaced] = [schemeOf(candidate, after), schemeOf(name, before)];
        return (
          scopes !== undefined && replaces(scheme, replaced) && covers(scheme, unused.get(candidate), scopes)
        );
      });
      if (found !== undefined && missing.delete(name)) {
        unused.delete(found);
      }
    }
  }
}

function isSame(candidate: DeclaredScheme, replaced: DeclaredScheme): boolean {
  return candidate.kind !== undefined && candidate.identity === replaced.identity;
}

function isStronger(candidate: DeclaredScheme, replaced: DeclaredScheme): boolean {
  return candidate.strength > replaced.strength;
}

/** A certificate has no scopes. */
function covers(
  { kind }: DeclaredScheme,
  demanded: ReadonlySet<string> | undefined,
  scopes: ReadonlySet<string>,
): boolean {
  return kind === "mtlsSecurityScheme" || scopesWithout(scopes, demanded).length === 0;
}

function scopesWithout(
  scopes: ReadonlySet<string>,
  demanded: ReadonlySet<string> | undefined,
): readonly string[] {
  return [...scopes].filter((scope) => demanded?.has(scope) !== true);
}

function byStrength(names: readonly string[], demands: Demands): readonly string[] {
  return names.toSorted((one, other) => schemeOf(other, demands).strength - schemeOf(one, demands).strength);
}

function schemeOf(name: string, { schemes }: Demands): DeclaredScheme {
  return schemes.get(name) ?? undeclaredScheme;
}

/** The same text for alternatives that demand the same. */
function identify(requirement: Requirement): string {
  const schemes = [...requirement].map(([name, scopes]) => [name, [...scopes].sort()] as const);
  return JSON.stringify(schemes.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function describe(now: Requirement, missing: Missing): string {
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
