import { isObject, type LooseObject, objectOf, readObject } from "./loose-json.ts";

/** What was and what is at one place of a card; undefined where there is nothing. */
export interface CardChange {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** Changes that are told, at most: more of them say no more. */
const maxChanges = 50;

/**
 * In what a card differs from the remembered one, as far as that is remembered: where callers go and what they are asked for
 * first.
 *
 * @param remembered JSON text, as `RememberedCard` has it
 * @param canonical JSON text of the other card
 */
export function findChanges(remembered: string, canonical: string): readonly CardChange[] {
  const changes: CardChange[] = [];
  compare(outlineOf(readObject(remembered)), outlineOf(readObject(canonical)), "", changes);
  return changes;
}

/** Skills by their ids, so that one more in front does not change all the others. */
function outlineOf(card: LooseObject): LooseObject {
  const { supportedInterfaces, securitySchemes, securityRequirements, skills, name, version } = card;
  const byId = (Array.isArray(skills) ? skills : [])
    .map(objectOf)
    .map((skill) => [String(skill["id"]), { securityRequirements: skill["securityRequirements"] }]);
  return {
    supportedInterfaces,
    securitySchemes,
    securityRequirements,
    skills: Object.fromEntries(byId),
    name,
    version,
  };
}

/** Goes down only where both sides have something to go down into: what is gone as a whole is one change. */
function compare(was: unknown, is: unknown, path: string, changes: CardChange[]): void {
  if (changes.length === maxChanges) return;
  const [before, after] = [membersOf(was), membersOf(is)];
  if (before !== undefined && after !== undefined && Array.isArray(was) === Array.isArray(is)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(before[name], after[name], join(path, name, Array.isArray(was)), changes);
    }
  } else if (JSON.stringify(was) !== JSON.stringify(is)) {
    changes.push({ path, was, is });
  }
}

function membersOf(value: unknown): LooseObject | undefined {
  if (Array.isArray(value)) return { ...value };
  return isObject(value) ? value : undefined;
}

function join(path: string, name: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}
