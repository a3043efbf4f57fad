import type { Evidence } from "./fact.ts";
import type { Decision, Memory, MemorySet } from "./memory.ts";
import { foldText } from "./plain-text.ts";
import { predicateOf } from "./predicates.ts";
import { groupByTopic, isSameValue, type StatedValue, type Topic } from "./topics.ts";

/** Two or more values where there can be one, and no rule that says which. */
export interface Contradiction extends Pick<Topic, "subject" | "predicate"> {
  readonly candidates: readonly StatedValue[];
}

/** The answer that none of the candidates is right. */
export const neither = "neither";

/** All contradictions that nobody has decided yet, in an order of their own: by subject and predicate. */
export function findContradictions(set: MemorySet): readonly Contradiction[] {
  return groupByTopic(set).flatMap((topic) => {
    const candidates = valuesThatHold(topic);
    return predicateOf(topic.predicate).holds === "one" && candidates.length > 1
      ? { subject: topic.subject, predicate: topic.predicate, candidates }
      : [];
  });
}

/** @param answer one of the candidates' values, or `neither` */
export function decide({ subject, predicate, candidates }: Contradiction, answer: string): Decision {
  const times = candidates.flatMap(({ evidence }) => evidence.map(({ at }) => at)).toSorted();
  return {
    subject,
    predicate,
    value: answer === neither ? undefined : answer,
    rejected: candidates.map(({ value }) => value).filter((value) => !isSameValue(value, answer)),
    upTo: times.at(-1) ?? "",
  };
}

/** What holds, what held, and what was found to be wrong; by subject, predicate and age. */
export function toMemories(set: MemorySet): readonly Memory[] {
  return groupByTopic(set).flatMap((topic) => {
    const { values, decisions, ...what } = topic;
    const holding = new Set(valuesThatHold(topic));
    const rejected = new Set(decisions.flatMap((decision) => decision.rejected.map(foldText)));
    return values.map((stated) => ({ ...what, ...stated, status: statusOf(stated, holding, rejected) }));
  });
}

function statusOf(
  stated: StatedValue,
  holding: ReadonlySet<StatedValue>,
  rejected: ReadonlySet<string>,
): Memory["status"] {
  if (holding.has(stated)) {
    return "current";
  }
  return rejected.has(foldText(stated.value)) ? "rejected" : "former";
}

/**
 * The values of a topic that nothing has taken the place of: what somebody said of themselves has changed ("I moved to
 * Lund") makes all that was said before it former, and so does a decision. Of others one hears that they have moved, and
 * somebody has to be asked.
 */
function valuesThatHold({ predicate, values, decisions }: Topic): readonly StatedValue[] {
  if (predicateOf(predicate).holds === "many") {
    return values;
  }
  const changes = values.flatMap(({ evidence }) => evidence.filter(isCertainChange).map(({ at }) => at));
  const change = changes.toSorted().at(-1) ?? "";
  const decision = decisions.at(-1);
  return decision === undefined || change > decision.upTo
    ? values.filter(({ evidence }) => evidence.some((each) => isSince(each, change)))
    : values.filter(
        ({ value, evidence }) =>
          (decision.value !== undefined && isSameValue(value, decision.value)) ||
          evidence.some(({ at }) => at > decision.upTo),
      );
}

function isCertainChange({ change, firsthand }: Evidence): boolean {
  return change && firsthand;
}

/** Said after the change, or with it: in the very conversation only the change itself counts. */
function isSince(evidence: Evidence, change: string): boolean {
  return evidence.at > change || (evidence.at === change && isCertainChange(evidence));
}
