import type { Fact } from "./fact.ts";
import type { Decision, MemorySet } from "./memory.ts";
import type { MemoryStore } from "./memory-store.ts";
import { type Normalised, normalise } from "./normaliser.ts";
import { createPeople } from "./people.ts";
import { plainText } from "./plain-text.ts";
import { topicKey } from "./topics.ts";

/** Facts of a batch in the form in which they can be compared, and what is known about the same things. */
export interface Recalled extends Normalised {
  readonly known: MemorySet;
}

/** Statements that are looked up of each topic, and of all topics of a batch: fewer of each where there are many. */
const newestOfTopic = 10;
const newestOfAll = 3_000;

/**
 * Looks up what a batch speaks of, and nothing else: memory grows with what everybody says, and what a task reads of it
 * must not.
 *
 * @param facts as they were extracted
 * @param speakers may be called by their first names, and so may those whom something is known about
 * @param tasks what was saved after so many tasks is not seen, so that a task sees the same whenever it runs again
 * @param nextPiece awaited between two pieces of the work
 */
export async function recall(
  memories: MemoryStore,
  facts: readonly Fact[],
  speakers: Iterable<string>,
  tasks: number,
  nextPiece: () => Promise<void>,
): Promise<Recalled> {
  const people: string[] = [];
  const names = facts.flatMap(({ about, subject }) => (about === "person" ? plainText(subject) : []));
  for (const name of new Set(names)) {
    await nextPiece();
    people.push(...memories.findPeople(name, tasks));
  }
  const normalised = await normalise(facts, createPeople(new Set([...people, ...speakers])), nextPiece);
  const known: { facts: Fact[]; decisions: Decision[] } = { facts: [], decisions: [] };
  const topics = new Set(normalised.facts.map(topicKey));
  const newest = Math.ceil(Math.min(newestOfTopic, newestOfAll / topics.size));
  for (const topic of topics) {
    await nextPiece();
    const found = memories.recall(topic, tasks, newest);
    known.facts.push(...found.facts);
    known.decisions.push(...found.decisions);
  }
  return { ...normalised, known };
}
