import type { CardSecurity, Requirement } from "./card-security.ts";
import type { ComparisonBudget } from "./comparison-budget.ts";
import { type DeclaredScheme, undeclaredScheme } from "./declared-scheme.ts";

type Schemes = CardSecurity["schemes"];

/** Most schemes within one alternative that may be replaced by others. */
const maxReplaced = 8;

/** What an alternative does not demand any more, by the name of a scheme: the scheme itself, or scopes of it. */
export type MissingDemands = ReadonlyMap<string, "scheme" | readonly string[]>;

/** Two alternatives, and the schemes that they name. */
export interface AlternativePair {
  readonly was: Requirement;
  readonly now: Requirement;
  readonly schemesBefore: Schemes;
  readonly schemesAfter: Schemes;
}

/** What callers need not present any more who meet `now` in the place of `was`; empty when they need as much. */
export function findMissingDemands(pair: AlternativePair, budget: ComparisonBudget): MissingDemands {
  const { was, now } = pair;
  const missing = new Map<string, "scheme" | readonly string[]>();
  budget.spend(was.size + now.size + 1);
  for (const [name, scopes] of was) {
    const demanded = now.get(name);
    const lacking = scopesWithout(scopes, demanded, budget);
    if (demanded === undefined || lacking.length > 0) {
      missing.set(name, demanded === undefined ? "scheme" : lacking);
    }
  }
  if (missing.size > 0) {
    allowReplacements(missing, pair, budget);
  }
  return missing;
}

/** Takes out of `missing` what something stands for that was not demanded before; each stands for one. */
function allowReplacements(
  missing: Map<string, "scheme" | readonly string[]>,
  { was, now, schemesBefore, schemesAfter }: AlternativePair,
  budget: ComparisonBudget,
): void {
  const unused = new Map([...now].filter(([name]) => !was.has(name)));
  const gone = [...missing.keys()].filter((name) => missing.get(name) === "scheme");
  if (unused.size === 0 || unused.size > maxReplaced || gone.length > maxReplaced) {
    return;
  }
  // The same by another name first. What is left may then stand for others, the strongest for the strongest.
  for (const replaces of [isSame, isStronger]) {
    for (const name of byStrength(gone, schemesBefore)) {
      budget.spend(unused.size);
      const scopes = was.get(name);
      const found = byStrength([...unused.keys()], schemesAfter).find((candidate) => {
        const [scheme, replaced] = [schemeOf(candidate, schemesAfter), schemeOf(name, schemesBefore)];
        return (
          scopes !== undefined &&
          replaces(scheme, replaced) &&
          covers(scheme, unused.get(candidate), scopes, budget)
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
  budget: ComparisonBudget,
): boolean {
  return kind === "mtlsSecurityScheme" || scopesWithout(scopes, demanded, budget).length === 0;
}

function scopesWithout(
  scopes: ReadonlySet<string>,
  demanded: ReadonlySet<string> | undefined,
  budget: ComparisonBudget,
): readonly string[] {
  budget.spend(scopes.size);
  return [...scopes].filter((scope) => demanded?.has(scope) !== true);
}

function byStrength(names: readonly string[], schemes: Schemes): readonly string[] {
  return names.toSorted((one, other) => schemeOf(other, schemes).strength - schemeOf(one, schemes).strength);
}

function schemeOf(name: string, schemes: Schemes): DeclaredScheme {
  return schemes.get(name) ?? undeclaredScheme;
}
