import { foldText } from "./plain-text.ts";

/** Who is meant by a name. */
export interface People {
  /**
   * The whole name that somebody is known by: of "Maya" the only Maya there is, of a name that nobody has that name
   * itself; undefined when it fits several people.
   */
  resolve(name: string): string | undefined;
}

/** @param names whole names: of those who spoke, and of those who are known from before */
export function createPeople(names: Iterable<string>): People {
  /** Two at most of each first name: then it fits several people, however many there are. */
  const byName = new Map<string, Set<string>>();
  const whole = new Map<string, string>();
  for (const name of names) {
    const folded = foldText(name);
    const known = whole.get(folded) ?? name;
    whole.set(folded, known);
    const first = firstName(folded);
    if (first === folded) continue;
    const people = byName.get(first) ?? new Set();
    if (people.size < 2) byName.set(first, people.add(known));
  }
  return {
    resolve(name) {
      const folded = foldText(name);
      const [one = name, another] = byName.get(folded) ?? [];
      return whole.get(folded) ?? (another === undefined ? one : undefined);
    },
  };
}

/** The first of the words of a folded name. */
export function firstName(folded: string): string {
  return folded.split(" ", 1)[0] ?? folded;
}
