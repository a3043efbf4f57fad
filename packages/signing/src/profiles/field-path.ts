import { escapeInvisible } from "@a2a-connect/core/internal";

/** Names and indexes from the root of a card to a value in it. */
export type FieldPath = readonly (string | number)[];

/**
 * A path as results have it: `skills[0].tags`, spelled as in messages, but whole. Names of the card's own making are quoted,
 * without anything that a terminal obeys, so that two values never have the same path.
 */
function formatWholePath(path: FieldPath): string {
  return path.map((segment, index) => formatSegment(segment, index === 0)).join("");
}

function formatSegment(segment: string | number, isFirst: boolean): string {
  if (typeof segment === "number") return `[${segment}]`;
  if (/^\w{1,64}$/.test(segment)) return isFirst ? segment : `.${segment}`;
  return `[${escapeInvisible(JSON.stringify(segment))}]`;
}

/** Units that paths of one card may have together before only whole members are named. */
const maxTotalLength = 2 * 1024 * 1024;

/**
 * Collects paths for a result. A card could have long names above many values, and its list would be thousands of times as long
 * as the card: once the list is long, further values are named by the member of the card that they are in.
 */
export class PathList {
  readonly #paths: string[] = [];
  readonly #members = new Set<string>();
  #length = 0;

  /** @param path of a value; it is not kept */
  add(path: FieldPath): void {
    if (this.#length > maxTotalLength) {
      this.#members.add(formatWholePath(path.slice(0, 1)));
      return;
    }
    const text = formatWholePath(path);
    this.#paths.push(text);
    this.#length += text.length;
  }

  /** In the order in which they were added, whole members at the end. */
  toArray(): readonly string[] {
    return [...this.#paths, ...this.#members];
  }
}
