import { formatFieldPath } from "@a2a-connect/core/internal";
import { list, quote, quoteList, type SecurityFinding } from "./finding.ts";
import type { Outline, OutlinedSkill, Requirement } from "./outline.ts";
import { type Scheme, undeclaredScheme } from "./scheme.ts";

/** Most steps that comparing the requirements of two cards may take: some milliseconds. */
const maxSteps = 500_000;

/**
 * What callers need not present any more. Requirements are alternatives, each of which may demand several schemes together
 * (requirement L-9): they are weaker when somebody meets one of them who met none of those before. So an alternative may be
 * dropped, or demand more, but there must not be a new one that demands less than each of the old ones.
 *
 * A scheme may be replaced by the same under another name, or by a stronger one. A skill without requirements has those of its
 * card; a skill that is new is weaker than nothing.
 *
 * Lists are read, and found to be equal, in linear time. What comparing the others would take is reckoned first; where that is
 * too much, this is the one finding.
 */
export function findWeakerRequirements(before: Outline, after: Outline): SecurityFinding[] {
  const findings: SecurityFinding[] = [];
  let steps = 0;
  for (const { was, is, opening, path } of placesOf(before, after)) {
    const [old, now] = [readList(was), readList(is)];
    if (old.demandsNothing) continue;
    steps += now.byText.size;
    const others = steps > maxSteps ? [] : [...now.byText].filter(([text]) => !old.byText.has(text));
    const changed = others.map(([, alternative]) => alternative);
    steps += stepsOf(old, changed);
    if (steps > maxSteps) {
      const text = "There are too many requirements to be compared with those before.";
      return [{ text, path: formatFieldPath(path) }];
    }
    if (now.byText.size === 0) {
      findings.push({ text: `${opening}No credentials are demanded any more.`, path: formatFieldPath(path) });
    }
    for (const { requirement, index } of changed) {
      const missing = findLeastMissing(old, requirement, before.schemes, after.schemes);
      if (missing.size > 0) {
        const text = opening + describe(requirement, missing);
        findings.push({ text, path: formatFieldPath([...path, index]) });
      }
    }
  }
  return findings;
}

/** Where there are requirements: in a card, or in one of its skills. */
interface Place {
  readonly was: readonly Requirement[];
  readonly is: readonly Requirement[];
  readonly opening: string;
  readonly path: readonly (string | number)[];
}

function* placesOf(before: Outline, after: Outline): Generator<Place> {
  yield { was: before.requirements, is: after.requirements, opening: "", path: ["securityRequirements"] };
  const demandsOf = (skill: OutlinedSkill, card: Outline) =>
    skill.requirements.length === 0 ? card.requirements : skill.requirements;
  const byId = Map.groupBy(before.skills, ({ id }) => id);
  const asked = new Map<string, number>();
  for (const [index, skill] of after.skills.entries()) {
    // Where several skills have one id, which they must not, each has its own, and those that are new have the first.
    const nth = asked.get(skill.id) ?? 0;
    asked.set(skill.id, nth + 1);
    const sameId = byId.get(skill.id) ?? [];
    const was = sameId[nth] ?? sameId[0];
    if (was === undefined || was.requirements.length + skill.requirements.length === 0) continue;
    yield {
      was: demandsOf(was, before),
      is: demandsOf(skill, after),
      opening: `For the skill ${quote(skill.id)}: `,
      path: ["skills", index, "securityRequirements"],
    };
  }
}

/** A list of requirements. */
interface RequirementList {
  /** Without repetitions: by a text that is the same for those that demand the same. */
  readonly byText: ReadonlyMap<string, Alternative>;
  /** Schemes and scopes of all alternatives. */
  readonly size: number;
  /** Whether callers need no credentials: there is no alternative, or one that demands nothing. */
  readonly demandsNothing: boolean;
}

interface Alternative {
  readonly requirement: Requirement;
  /** Its first place in the list. */
  readonly index: number;
  /** Its schemes and their scopes. */
  readonly size: number;
}

/** All skills without requirements of their own have those of the card, which are read once. */
const lists = new WeakMap<readonly Requirement[], RequirementList>();

function readList(requirements: readonly Requirement[]): RequirementList {
  const known = lists.get(requirements);
  if (known !== undefined) return known;
  const byText = new Map<string, Alternative>();
  for (const [index, requirement] of requirements.entries()) {
    const schemes = [...requirement].map(([name, scopes]) => [name, [...scopes].sort()] as const);
    const text = JSON.stringify(schemes.sort(([one], [other]) => (one < other ? -1 : 1)));
    const size = schemes.reduce((sum, [, scopes]) => sum + 1 + scopes.length, 0);
    if (!byText.has(text)) byText.set(text, { requirement, index, size });
  }
  const alternatives = [...byText.values()];
  const read = {
    byText,
    size: alternatives.reduce((sum, { size }) => sum + size, 0),
    demandsNothing: alternatives.length === 0 || alternatives.some(({ size }) => size === 0),
  };
  lists.set(requirements, read);
  return read;
}

/** What comparing alternatives with all old ones may take. Each old scheme may look for its replacement among the new ones. */
function stepsOf(old: RequirementList, changed: readonly Alternative[]): number {
  const size = changed.reduce((sum, alternative) => sum + alternative.size, 0);
  const schemes = changed.reduce((sum, { requirement }) => sum + requirement.size, 0);
  return (changed.length + schemes) * old.size + size * old.byText.size;
}

/** What callers need not present any more, by the name of a scheme: the scheme itself, or scopes of it. */
type MissingDemands = Map<string, "scheme" | readonly string[]>;

type Schemes = Outline["schemes"];

/** What an alternative lacks of the old one that it is most similar to. */
function findLeastMissing(old: RequirementList, now: Requirement, before: Schemes, after: Schemes) {
  let least: MissingDemands | undefined;
  for (const { requirement: was } of old.byText.values()) {
    const missing = findMissing(was, now, before, after);
    if (least === undefined || missing.size < least.size) least = missing;
    if (least.size === 0) break;
  }
  return least ?? new Map<never, never>();
}

function findMissing(was: Requirement, now: Requirement, before: Schemes, after: Schemes): MissingDemands {
  const missing: MissingDemands = new Map();
  for (const [name, scopes] of was) {
    const demanded = now.get(name);
    const lacking = without(scopes, demanded);
    if (demanded === undefined) missing.set(name, "scheme");
    else if (lacking.length > 0) missing.set(name, lacking);
  }
  // What was not demanded before may stand for what is gone, each for one: the same by another name first, then what is
  // stronger, the strongest for the strongest.
  const isAdded = (name: string) => !was.has(name);
  const unused = new Set(byStrength([...now.keys()].filter(isAdded), after));
  for (const replaces of [isSame, isStronger]) {
    for (const name of byStrength([...missing.keys()], before)) {
      const scopes = missing.get(name) === "scheme" ? was.get(name) : undefined;
      if (scopes === undefined) continue;
      const found = [...unused].find((candidate) => {
        const scheme = schemeOf(candidate, after);
        // A certificate has no scopes.
        const covers =
          scheme.kind === "mtlsSecurityScheme" || without(scopes, now.get(candidate)).length === 0;
        return covers && replaces(scheme, schemeOf(name, before));
      });
      if (found !== undefined && missing.delete(name)) unused.delete(found);
    }
  }
  return missing;
}

function without(scopes: ReadonlySet<string>, demanded: ReadonlySet<string> | undefined): readonly string[] {
  return [...scopes].filter((scope) => demanded?.has(scope) !== true);
}

function isSame(candidate: Scheme, replaced: Scheme): boolean {
  return candidate.kind !== undefined && candidate.identity === replaced.identity;
}

function isStronger(candidate: Scheme, replaced: Scheme): boolean {
  return candidate.strength > replaced.strength;
}

function byStrength(names: readonly string[], schemes: Schemes): readonly string[] {
  return names.toSorted((one, other) => schemeOf(other, schemes).strength - schemeOf(one, schemes).strength);
}

function schemeOf(name: string, schemes: Schemes): Scheme {
  return schemes.get(name) ?? undeclaredScheme;
}

function describe(now: Requirement, missing: MissingDemands): string {
  if (now.size === 0) return "Callers are let in without credentials.";
  const gone = [...missing].map(([name, what]) =>
    what === "scheme"
      ? `the security scheme ${quote(name)}`
      : `${what.length === 1 ? "the scope" : "the scopes"} ${quoteList(what)} of ${quote(name)}`,
  );
  return `Callers are let in with ${quoteList([...now.keys()])}, without ${list(gone)}.`;
}
