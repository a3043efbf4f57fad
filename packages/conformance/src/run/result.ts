import type { Exchange } from "../exchange.ts";
import { getRequirement, type Place, type Requirement } from "../requirements.ts";
import type { Scenario } from "../scenario.ts";

/** What became of a scenario in one place. `not-run`: the time of the whole run was over. */
export type Outcome = "passed" | "failed" | "not-applicable" | "not-run";

/** One scenario in one place, over. */
export interface Result {
  readonly scenario: Scenario;
  /** The title of the scenario's group. */
  readonly group: string;
  readonly place: Place;
  readonly outcome: Outcome;
  /** Why it is anything but passed: what was there instead, or why nothing is said. Empty when it has passed. */
  readonly sentence: string;
  /** What the server's owner should read although nothing is wrong. */
  readonly notes: readonly string[];
  /** The end of what was said, the newest last; empty unless it has failed. */
  readonly exchanges: readonly Exchange[];
  readonly durationMs: number;
}

/**
 * How much a failure weighs. `must`: the specification demands it; `should`: it recommends it, or contradicts itself and this is
 * how we read it; `may`: it leaves the choice, or is silent.
 */
export type Weight = (typeof weights)[number];

/** The heaviest first. */
export const weights = ["must", "should", "may"] as const;

/** What a requirement weighs. */
export function weightOf({ level }: Requirement): Weight {
  if (level === "MUST") return "must";
  return level === "SHOULD" || level === "AMBIG" ? "should" : "may";
}

/** What a scenario weighs: as much as the heaviest of the requirements that it cites and that bind servers. */
export function weightOfScenario({ ids }: Pick<Scenario, "ids">): Weight {
  const all = requirementsOf({ ids }).map(weightOf);
  return weights.find((weight) => all.includes(weight)) ?? "may";
}

/** The requirements that a scenario cites and that bind servers. */
export function requirementsOf({ ids }: Pick<Scenario, "ids">): Requirement[] {
  return ids.map(getRequirement).filter(({ of }) => of !== "client");
}
