import type { Place } from "../requirements.ts";
import { type Result, type Weight, weightOfScenario, weights } from "../run/result.ts";
import type { Scenario } from "../scenario.ts";

/** Failures that probably have the same cause, however different the scenarios: a server may break every answer. */
export interface Cause {
  /** What most of them say. */
  readonly sentence: string;
  /** Of the heaviest. */
  readonly weight: Weight;
  readonly places: ReadonlySet<Place>;
  readonly scenarios: ReadonlySet<Scenario>;
  readonly results: readonly Result[];
}

/** Failures by their cause: the heaviest first, then those with most failures. */
export function findCauses(results: readonly Result[]): Cause[] {
  const failed = results.filter(({ outcome }) => outcome === "failed");
  const refusals = new Set(failed.filter(isRefused).map(findAnswer));
  return [...Map.groupBy(failed, (result) => keyOf(result, refusals)).values()]
    .map(toCause)
    .toSorted(
      (one, other) =>
        weights.indexOf(one.weight) - weights.indexOf(other.weight) ||
        other.results.length - one.results.length,
    );
}

/** Tells failures with a new cause from those with one that was told before, as they come. */
export function createCauseMemory(): (result: Result) => boolean {
  const refusals = new Set<string>();
  const told = new Set<string>();
  return (result) => {
    if (isRefused(result)) refusals.add(findAnswer(result));
    const key = keyOf(result, refusals);
    const isNew = !told.has(key);
    told.add(key);
    return isNew;
  };
}

/** A call that failed has its answer as the cause, also where another scenario looks at the same answer. Else it is what is said. */
function keyOf(result: Result, refusals: ReadonlySet<string>): string {
  const answer = findAnswer(result);
  return answer !== "" && refusals.has(answer) ? answer : headOf(result.sentence);
}

/** How sentences about calls that failed begin, as `failureOf` and Connect write them. */
const refused = /^(?:there is no error of this wire: )?\[[a-z_]+\]/;

function isRefused({ sentence }: Result): boolean {
  return refused.test(sentence);
}

/** The last answer, without what is different each time. */
function findAnswer({ exchanges }: Result): string {
  const lines = exchanges.at(-1)?.answer.split("\n") ?? [];
  const isKept = (line: string) => !/^[a-z\d-]+: /.test(line) || /^content-type: /i.test(line);
  return withoutNames(lines.filter(isKept).join("\n"));
}

/** What a sentence says, without what it is about and which call was the last. */
function headOf(sentence: string): string {
  return withoutNames(
    sentence
      .replace(refused, (start) => start.slice(start.indexOf("[")))
      .replace(/; (?:about: |the last call )[\s\S]*/, ""),
  );
}

/** Ids, times and large numbers differ from call to call. */
function withoutNames(text: string): string {
  return text.replaceAll(/[\da-f]{8}-[\da-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|\d{5,}/gi, "#");
}

function toCause(results: readonly Result[]): Cause {
  const sentences = [...Map.groupBy(results, ({ sentence }) => sentence)];
  const [[sentence] = [""]] = sentences.toSorted(([, one], [, other]) => other.length - one.length);
  const weight = weights.find((each) => results.some(({ scenario }) => weightOfScenario(scenario) === each));
  return {
    sentence,
    weight: weight ?? "may",
    places: new Set(results.map(({ place }) => place)),
    scenarios: new Set(results.map(({ scenario }) => scenario)),
    results,
  };
}
