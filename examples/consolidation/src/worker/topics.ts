import { compareEvidence, compareText, type Evidence, type Fact } from "./fact.ts";
import type { Decision, MemorySet } from "./memory.ts";
import { foldText } from "./plain-text.ts";

/** All that is known about one thing of one subject, such as where Maya lives. */
export interface Topic extends Pick<Fact, "subject" | "about" | "predicate"> {
  /** Each value once, in the order in which they were first said. */
  readonly values: readonly StatedValue[];
  /** In the order in which they were made. */
  readonly decisions: readonly Decision[];
}

/** A value and everything that speaks for it. */
export interface StatedValue {
  readonly value: string;
  /** Oldest first, each turn once. */
  readonly evidence: readonly Evidence[];
}

/**
 * Puts together what is about the same: duplicates become one value with the evidence of all, whatever their spelling.
 * The result does not depend on the order of the facts.
 */
export function groupByTopic({ facts, decisions }: MemorySet): readonly Topic[] {
  const sorted = facts.toSorted((one, other) => compareEvidence(one.evidence, other.evidence));
  const groups = Map.groupBy(sorted, topicKey);
  const decided = Map.groupBy(decisions, topicKey);
  return [...groups.entries()]
    .toSorted(([one], [other]) => compareText(one, other))
    .flatMap(([key, [first, ...others]]) =>
      first === undefined
        ? []
        : {
            subject: first.subject,
            about: first.about,
            predicate: first.predicate,
            values: groupByValue([first, ...others]),
            decisions: decided.get(key) ?? [],
          },
    );
}

/** Whether two values are the same but for their spelling. */
export function isSameValue(one: string, other: string): boolean {
  return foldText(one) === foldText(other);
}

/** Names a topic, however its subject is spelled. */
export function topicKey({ subject, predicate }: Pick<Fact, "subject" | "predicate">): string {
  return `${foldText(subject)} ${predicate}`;
}

function groupByValue(facts: readonly Fact[]): readonly StatedValue[] {
  return [...Map.groupBy(facts, ({ value }) => foldText(value)).values()].map((same) => ({
    value: same[0]?.value ?? "",
    evidence: [
      ...new Map(same.map(({ evidence }) => [`${evidence.transcript} ${evidence.turn}`, evidence])).values(),
    ],
  }));
}
