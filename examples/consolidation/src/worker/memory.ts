import type { Evidence, Fact } from "./fact.ts";

/** What is kept: what was said, and what was decided about it. What holds follows from the two (`toMemories`). */
export interface MemorySet {
  readonly facts: readonly Fact[];
  readonly decisions: readonly Decision[];
}

/** What somebody has answered about a contradiction. It holds for all that had been said until then. */
export interface Decision {
  readonly subject: string;
  readonly predicate: string;
  /** Undefined: none of what was said. */
  readonly value: string | undefined;
  readonly rejected: readonly string[];
  /** Time of the newest of what had been said: RFC 3339, UTC. */
  readonly upTo: string;
}

/** One thing that is or was known, with everything that speaks for it. */
export interface Memory extends Omit<Fact, "evidence"> {
  /** `former`: something newer has taken its place. `rejected`: somebody was asked, and it was not that. */
  readonly status: "current" | "former" | "rejected";
  /** Oldest first, each turn once. */
  readonly evidence: readonly Evidence[];
}
