import type { Fact } from "./fact.ts";
import type { People } from "./people.ts";
import { plainText } from "./plain-text.ts";
import { predicateOf } from "./predicates.ts";

/** Facts in the form in which they can be compared. */
export interface Normalised {
  readonly facts: readonly Fact[];
  /** Those about a name that fits several people. Nobody knows whom they are about, so they are left out. */
  readonly unclear: readonly Fact[];
}

/**
 * Gives everybody their whole name and every value its canonical form.
 *
 * @param nextPiece awaited between two facts
 */
export async function normalise(
  facts: readonly Fact[],
  people: People,
  nextPiece: () => Promise<void>,
): Promise<Normalised> {
  const clear: Fact[] = [];
  const unclear: Fact[] = [];
  for (const fact of facts) {
    await nextPiece();
    const subject =
      fact.about === "person" ? people.resolve(plainText(fact.subject)) : plainText(fact.subject);
    if (subject === undefined) {
      unclear.push(fact);
    } else {
      clear.push({ ...fact, subject, value: predicateOf(fact.predicate).canonical(fact.value) });
    }
  }
  return { facts: clear, unclear };
}
