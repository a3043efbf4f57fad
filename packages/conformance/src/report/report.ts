import { type CardFact, findCardFacts } from "../card-facts.ts";
import { type Wire, wires } from "../platform.ts";
import { type Place, type Requirement, requirements } from "../requirements.ts";
import type { KnownAgent } from "../run/applies.ts";
import type { Dialect } from "../run/dialect.ts";
import { type Outcome, type Result, type Weight, weightOfScenario, weights } from "../run/result.ts";
import type { ConformanceRun } from "../run/run-conformance.ts";
import type { Scenario } from "../scenario.ts";
import type { FoundServer } from "../target.ts";
import { type Cause, findCauses } from "./causes.ts";

/** How many scenarios ended how; a scenario counts once for each wire. */
export type Tally = Readonly<Record<Outcome, number>>;

/** One requirement, and what became of it in each place where a scenario about it was chosen. */
export interface RequirementRow {
  readonly requirement: Requirement;
  /** `failed` when any of its scenarios has; `passed` when at least one has, and none is open. */
  readonly outcomes: ReadonlyMap<Place, Outcome>;
}

/** Scenarios that have failed, once for all places. */
export interface Failure {
  readonly scenario: Scenario;
  readonly weight: Weight;
  readonly results: readonly Result[];
}

/** All that a run has found. */
export interface ConformanceReport {
  readonly server: {
    readonly url: string;
    /** As the card says; empty when it says nothing. */
    readonly name: string;
    readonly version: string;
    readonly wires: readonly Wire[];
    /** Wires that can be examined and that its card does not declare. */
    readonly undeclared: readonly Wire[];
    /** What else the card says. */
    readonly facts: ReadonlySet<CardFact>;
  };
  readonly agent: KnownAgent;
  readonly dialect: Dialect;
  readonly tallies: Readonly<Record<Weight, Tally>>;
  /** Those that bind servers and were chosen, in order. */
  readonly rows: readonly RequirementRow[];
  /** The heaviest first. */
  readonly failures: readonly Failure[];
  /** The same failures by their cause: the heaviest first, then those with most failures. */
  readonly causes: readonly Cause[];
  /** In the order of the scenarios. */
  readonly results: readonly Result[];
}

/** What the whole of it means. `incomplete`: nothing was passed, or not all was run. */
export type Verdict = "passed" | "failed" | "incomplete";

/** What a report tells of a run beside its results. */
export interface ReportedRun extends Pick<ConformanceRun, "agent" | "dialect"> {
  readonly server: Pick<FoundServer, "url" | "card" | "addresses">;
}

/** Places in the order of columns. */
export const placesInOrder: readonly Place[] = ["card", ...wires];

/** Puts the results of a run in order. */
export function createReport(
  { server: { url, card, addresses }, agent, dialect }: ReportedRun,
  unordered: readonly Result[],
): ConformanceReport {
  const results = unordered.toSorted(
    (one, other) =>
      compareIds(one.scenario, other.scenario) ||
      placesInOrder.indexOf(one.place) - placesInOrder.indexOf(other.place),
  );
  return {
    server: {
      url,
      name: wordOf(card["name"]),
      version: wordOf(card["version"]),
      wires: wires.filter((wire) => addresses.has(wire)),
      undeclared: wires.filter((wire) => !addresses.has(wire)),
      facts: findCardFacts(card),
    },
    agent,
    dialect,
    tallies: tally(results),
    rows: findRows(results),
    failures: findFailures(results),
    causes: findCauses(results),
    results,
  };
}

/** @param strict whether a `should` that fails counts, too */
export function verdictOf({ tallies }: ConformanceReport, strict = false): Verdict {
  if (tallies.must.failed > 0 || (strict && tallies.should.failed > 0)) return "failed";
  const all = Object.values(tallies);
  const isComplete = all.every((each) => each["not-run"] === 0) && all.some(({ passed }) => passed > 0);
  return isComplete ? "passed" : "incomplete";
}

const order = new Map(requirements.map(({ id }, index) => [id, index]));

function compareIds({ ids: [one = ""] }: Scenario, { ids: [other = ""] }: Scenario): number {
  return (order.get(one) ?? 0) - (order.get(other) ?? 0);
}

/** What a card says of itself, bounded. */
function wordOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 200) : "";
}

function tally(results: readonly Result[]): Readonly<Record<Weight, Tally>> {
  const none = { passed: 0, failed: 0, "not-applicable": 0, "not-run": 0 };
  const tallies = { must: { ...none }, should: { ...none }, may: { ...none } };
  for (const { scenario, outcome } of results) tallies[weightOfScenario(scenario)][outcome] += 1;
  return tallies;
}

function findRows(results: readonly Result[]): RequirementRow[] {
  const outcomes = new Map<string, Map<Place, Outcome>>();
  for (const { scenario, place, outcome } of results) {
    for (const id of scenario.ids) {
      const places = outcomes.get(id) ?? new Map<Place, Outcome>();
      outcomes.set(id, places);
      const before = places.get(place);
      places.set(place, before === undefined ? outcome : worseOf(before, outcome));
    }
  }
  return requirements
    .filter(({ id, of }) => of !== "client" && outcomes.has(id))
    .map((requirement) => ({
      requirement,
      outcomes: new Map(
        placesInOrder.flatMap((place) => {
          const outcome = outcomes.get(requirement.id)?.get(place);
          return outcome === undefined || !requirement.places.includes(place) ? [] : [[place, outcome]];
        }),
      ),
    }));
}

const byGravity: readonly Outcome[] = ["failed", "not-run", "passed", "not-applicable"];

function worseOf(one: Outcome, other: Outcome): Outcome {
  return byGravity.find((outcome) => outcome === one || outcome === other) ?? one;
}

/** Scenarios that have failed, the heaviest first. */
export function findFailures(results: readonly Result[]): Failure[] {
  const failed = Map.groupBy(
    results.filter(({ outcome }) => outcome === "failed"),
    ({ scenario }) => scenario,
  );
  return [...failed]
    .map(([scenario, each]) => ({ scenario, weight: weightOfScenario(scenario), results: each }))
    .toSorted((one, other) => weights.indexOf(one.weight) - weights.indexOf(other.weight));
}

/** A report as JSON: its results, and what they come to. */
export interface ReportJson extends Readonly<Record<string, unknown>> {
  readonly results: readonly object[];
}

/** A report as JSON, for programs. */
export function reportToJson(report: ConformanceReport, strict = false): ReportJson {
  const { server, agent, dialect, tallies, rows, causes, results } = report;
  return {
    server: { ...server, facts: [...server.facts] },
    agent,
    verdict: verdictOf(report, strict),
    spec: { version: dialect.spec, given: dialect.isGiven, signs: dialect.signs },
    tallies,
    requirements: rows.map(({ requirement: { id, level, source, sentence }, outcomes }) => ({
      ...{ id, level, sections: source, sentence },
      outcomes: Object.fromEntries(outcomes),
    })),
    causes: causes.map(({ sentence, weight, places, scenarios, results: failed }) => ({
      ...{ sentence, weight, checks: failed.length, places: [...places] },
      scenarios: [...scenarios].map(({ ids, title }) => ({ ids, title })),
    })),
    results: results.map(resultToJson),
  };
}

/** One result as JSON, for programs. */
export function resultToJson(result: Result): object {
  const { scenario, group, place, outcome, sentence, notes, exchanges, durationMs } = result;
  return {
    ...{ ids: scenario.ids, title: scenario.title, group, place, weight: weightOfScenario(scenario) },
    ...{ outcome, sentence, notes, exchanges, durationMs },
  };
}
