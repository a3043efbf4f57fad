import type { JsonValue } from "@bufbuild/protobuf";

/** A card that this browser has seen, and when it saw it first. */
export interface SeenCard {
  readonly text: string;
  readonly at: number;
}

/** The card of today, and the one before it, if there was another. */
export interface SeenCards {
  readonly current: SeenCard;
  readonly previous: SeenCard | undefined;
}

/** Longest card that is kept: a browser keeps some megabytes for a page in all. */
const maxLength = 200_000;

/**
 * Keeps a card for the next visit. Cards are public, so this is the one thing that outlives the page.
 *
 * @returns the card with the last one that was different
 */
export function rememberCard(url: string, text: string): SeenCards {
  const name = `a2a-card ${url}`;
  const known = readKept(name);
  const isSame = known?.current.text === text;
  const seen: SeenCards = isSame ? known : { current: { text, at: Date.now() }, previous: known?.current };
  if (!isSame && text.length <= maxLength) {
    try {
      localStorage.setItem(name, JSON.stringify(seen));
    } catch {
      // A browser may keep nothing, or be full.
    }
  }
  return seen;
}

function readKept(name: string): SeenCards | undefined {
  try {
    const kept = localStorage.getItem(name);
    return kept === null ? undefined : (JSON.parse(kept) as SeenCards); // as it was written above
  } catch {
    return undefined;
  }
}

/** A member that is not the same in two cards. */
export interface Difference {
  readonly path: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** What is different between two values, by the paths of the members; members whose order has changed are different. */
export function findDifferences(before: JsonValue, after: JsonValue, path = ""): Difference[] {
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    return Object.is(before, after) ? [] : [{ path, before, after }];
  }
  const [old, next] = [Object.entries(before), new Map(Object.entries(after))];
  const differences = old.flatMap(([name, value]) => {
    const changed = next.get(name);
    next.delete(name);
    const inner = joinPath(path, name, Array.isArray(before));
    return changed === undefined
      ? [{ path: inner, before: value, after: undefined }]
      : findDifferences(value, changed, inner);
  });
  const added = [...next].map(([name, value]) => ({
    path: joinPath(path, name, Array.isArray(after)),
    before: undefined,
    after: value,
  }));
  return [...differences, ...added];
}

function isBranch(value: JsonValue): value is JsonValue[] | { [name: string]: JsonValue } {
  return typeof value === "object" && value !== null;
}

function joinPath(path: string, name: string, isList: boolean): string {
  if (isList) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}
