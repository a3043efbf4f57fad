/** Something that somebody said about somebody or something. */
export interface Fact {
  /** A person's name, or what an arrangement is called. */
  readonly subject: string;
  readonly about: "person" | "arrangement";
  /** Such as `lives_in`; see `predicates.ts`. */
  readonly predicate: string;
  readonly value: string;
  readonly evidence: Evidence;
}

/** Where a fact is from. */
export interface Evidence {
  /** Id of the transcript. */
  readonly transcript: string;
  /** Which of its turns, from 1. */
  readonly turn: number;
  /** When the conversation began: RFC 3339, UTC. */
  readonly at: string;
  readonly saidBy: string;
  /** The sentence, without control characters. */
  readonly quote: string;
  /** Whether it was said by whom it is about; about an arrangement, everybody speaks firsthand. */
  readonly firsthand: boolean;
  /** Whether it says that something has changed ("moved to"), so that what was said before it is merely former. */
  readonly change: boolean;
}

/** By time, and in the order of the conversation. */
export function compareEvidence(one: Evidence, other: Evidence): number {
  return (
    compareText(one.at, other.at) || compareText(one.transcript, other.transcript) || one.turn - other.turn
  );
}

/** By code units: the same on every machine, whatever its language. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
