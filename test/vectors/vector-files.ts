import { readdirSync, readFileSync } from "node:fs";
import type { Vector } from "./vector.ts";

export const vectorFolder: URL = new URL("agent-card/", import.meta.url);

/** The text of a file. It is ASCII, so that no editor and no transport can normalise what is in it. */
export function vectorText(vector: Vector): string {
  const text = JSON.stringify(vector, null, 2);
  return `${text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}

/** All files, by their names without `.json`. */
export function readVectors(): ReadonlyMap<string, Vector> {
  const names = readdirSync(vectorFolder).map((file) => file.replace(/\.json$/, ""));
  return new Map(
    names
      .sort()
      .map((name) => [name, JSON.parse(readFileSync(new URL(`${name}.json`, vectorFolder), "utf8"))]),
  );
}

/** The text of a vector's card, as it came over the wire. */
export function cardTextOf(vector: Vector): string {
  if (vector.cardTextRepeat !== undefined) {
    const [text, times] = vector.cardTextRepeat;
    return text.repeat(times);
  }
  return vector.cardText ?? JSON.stringify(vector.card);
}
