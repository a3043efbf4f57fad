import type { Requirement } from "./card-security.ts";

/** Most schemes, and most scopes of all of them, of an alternative that can be compared with another one. */
const maxSchemes = 64;
const maxScopes = 256;

/** A list of requirements, read once. */
export interface RequirementList {
  /** Alternatives that differ, in their order. */
  readonly alternatives: readonly Alternative[];
  readonly identities: ReadonlySet<number>;
  /** Whether callers need no credentials: there is no alternative, or one that demands nothing. */
  readonly demandsNothing: boolean;
}

/** What callers may present. */
export interface Alternative {
  readonly requirement: Requirement;
  /** Its first place in the list. */
  readonly index: number;
  /** The same number for those that demand the same. */
  readonly identity: number;
  /** Whether it has so many schemes or scopes that it cannot be compared. */
  readonly isOversized: boolean;
}

/**
 * Reads lists of requirements in time linear in their size, each list once however often it is asked for: all skills without
 * requirements of their own have those of the card.
 */
export function createListReader(): (requirements: readonly Requirement[]) => RequirementList {
  const lists = new WeakMap<readonly Requirement[], RequirementList>();
  const identities = new Map<string, number>();
  const readAlternative = (requirement: Requirement, index: number): Alternative => {
    const schemes = [...requirement].map(([name, scopes]) => [name, [...scopes].sort()] as const);
    const text = JSON.stringify(schemes.sort(([one], [other]) => (one < other ? -1 : 1)));
    const identity = identities.get(text) ?? identities.size;
    identities.set(text, identity);
    const scopeCount = schemes.reduce((sum, [, scopes]) => sum + scopes.length, 0);
    const isOversized = schemes.length > maxSchemes || scopeCount > maxScopes;
    return { requirement, index, identity, isOversized };
  };
  return (requirements) => {
    const known = lists.get(requirements);
    if (known !== undefined) {
      return known;
    }
    const byIdentity = new Map<number, Alternative>();
    for (const [index, requirement] of requirements.entries()) {
      const alternative = readAlternative(requirement, index);
      if (!byIdentity.has(alternative.identity)) {
        byIdentity.set(alternative.identity, alternative);
      }
    }
    const alternatives = [...byIdentity.values()];
    const list: RequirementList = {
      alternatives,
      identities: new Set(byIdentity.keys()),
      demandsNothing:
        alternatives.length === 0 || alternatives.some(({ requirement }) => requirement.size === 0),
    };
    lists.set(requirements, list);
    return list;
  };
}
