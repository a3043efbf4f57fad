import type { PreparedPolicy } from "./prepared-policy.ts";
import type { SignatureCheck } from "./verdict.ts";

/**
 * The ids and thumbprints of the policy's `signers` that a signature meets. A key set of the card's own origin may give its keys
 * whatever ids it likes, so an id counts only for keys that the policy has, and those of hosts that it names.
 */
export function namesMet(
  { kid, thumbprint, keySource }: SignatureCheck,
  { signers, remote }: Pick<PreparedPolicy, "signers" | "remote">,
): readonly string[] {
  const isNamed = keySource === "trusted" || remote?.hosts !== undefined;
  const names = [isNamed ? kid : undefined, thumbprint].filter((name) => name !== undefined);
  return names.filter((name) => signers?.has(name) === true);
}

/**
 * How many signers have signed: different keys; where the policy names signers, how many of those it names, each by a key of
 * its own. Two keys of one id are one signer then, and one key that is named twice, by id and by thumbprint, is one, too.
 *
 * @param counting verdicts of signatures that count
 */
export function countSigners(counting: readonly SignatureCheck[], policy: PreparedPolicy): number {
  const namesByKey = new Map<string, Set<string>>();
  for (const verdict of counting) {
    if (verdict.thumbprint === undefined) continue;
    const names = namesByKey.get(verdict.thumbprint) ?? new Set();
    for (const name of namesMet(verdict, policy)) names.add(name);
    namesByKey.set(verdict.thumbprint, names);
  }
  return policy.signers === undefined ? namesByKey.size : countPairs(namesByKey);
}

/** The most pairs of a key and one of its names, of which no two have the key or the name in common (Kuhn's algorithm). */
function countPairs(namesByKey: ReadonlyMap<string, ReadonlySet<string>>): number {
  const keyOfName = new Map<string, string>();
  const findName = (key: string, asked: Set<string>): boolean => {
    for (const name of namesByKey.get(key) ?? []) {
      if (asked.has(name)) continue;
      asked.add(name);
      const other = keyOfName.get(name);
      if (other === undefined || findName(other, asked)) {
        keyOfName.set(name, key);
        return true;
      }
    }
    return false;
  };
  return [...namesByKey.keys()].filter((key) => findName(key, new Set())).length;
}
