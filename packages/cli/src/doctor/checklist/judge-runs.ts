import { formatTaskState, partText, readLifecycleReport } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { expectedFailureTag } from "../../smoke/expected-failure.ts";
import { type ExampleRun, isRefusal } from "../../smoke/run-example.ts";
import type { ChecklistFacts, Judgement } from "./checklist.ts";
import { lifecycleParams } from "./judge-card.ts";

/** Whether every skill brings its first example to an end, or to a question. Refusing it is an end, too. */
export function judgeExamples({ runs }: ChecklistFacts): Judgement {
  const tried = runs.filter(({ outcome }) => outcome !== "skipped");
  const lost = tried.filter(({ outcome }) => outcome === "timeout" || outcome === "error");
  if (tried.length === 0) {
    return { verdict: "unproven", evidence: "no skill has an example", fix: "Give each skill one." };
  }
  return lost.length === 0
    ? { verdict: "yes", evidence: tried.map(nameRun).join(", ") }
    : { verdict: "no", evidence: lost.map(nameRun).join(", "), fix: "Let every task end, or ask." };
}

/** Whether a task was seen to complete. */
export function judgeCompletion({ runs }: ChecklistFacts): Judgement {
  return seen(runs, "completed", "Give a skill an example that leads to a result.");
}

/** Whether a question was seen, where the card says that the agent asks. */
export function judgeQuestions({ card, runs }: ChecklistFacts): Judgement {
  const params = lifecycleParams(card);
  if (params?.["asks"] === false) return { verdict: "yes", evidence: "the card says that it never asks" };
  return seen(runs, "asks", "Give a skill an example that leads to a question, or say asks: false.");
}

/** Whether a failure or refusal was seen. Nothing that always works can show it. */
export function judgeFailures({ runs }: ChecklistFacts): Judgement {
  const failed = runs.filter(({ outcome }) => isRefusal(outcome));
  return failed.length > 0
    ? { verdict: "yes", evidence: failed.map(nameRun).join(", ") }
    : {
        verdict: "unproven",
        evidence: "no example fails or is refused",
        fix: `An example of what the agent refuses is worth having, in a skill with the tag ${expectedFailureTag}.`,
      };
}

/** Whether a task that asks can be canceled. */
export function judgeCancel({ runs }: ChecklistFacts): Judgement {
  const asking = runs.filter(({ outcome }) => outcome === "asks" || outcome === "wants-auth");
  const [first] = asking;
  if (first === undefined) return { verdict: "unproven", evidence: "no task waited to be canceled" };
  const stuck = asking.filter(({ canceled }) => canceled?.status?.state !== TaskState.CANCELED);
  return stuck.length === 0
    ? { verdict: "yes", evidence: `${first.skill}: canceled while it asked` }
    : {
        verdict: "no",
        evidence: stuck.map(({ skill }) => skill).join(", "),
        fix: "Let a task that waits be canceled at once.",
      };
}

/** Whether tasks that end without a result say why, to people and to machines. */
export function judgeReasons({ runs }: ChecklistFacts): Judgement {
  const ended = runs.flatMap(({ skill, task, canceled }) =>
    [task, canceled].flatMap((each) =>
      each?.status !== undefined && endsWithout.has(each.status.state)
        ? [{ skill, status: each.status }]
        : [],
    ),
  );
  if (ended.length === 0) return { verdict: "unproven", evidence: "no task ended without a result" };
  const told = ended.map(({ skill, status }) => {
    const { reason } = readLifecycleReport(status.message?.metadata);
    const says = status.message !== undefined && partText(status.message) !== "";
    return {
      name: `${skill}: ${formatTaskState(status.state)}`,
      reason,
      isComplete: says && reason !== undefined,
    };
  });
  const silent = told.filter(({ isComplete }) => !isComplete);
  return silent.length === 0
    ? { verdict: "yes", evidence: told.map(({ name, reason }) => `${name}, ${String(reason)}`).join("; ") }
    : {
        verdict: "no",
        evidence: silent.map(({ name }) => name).join("; "),
        fix: "Put a sentence into the status message and a reason into its metadata (lifecycle extension).",
      };
}

const endsWithout: ReadonlySet<TaskState> = new Set([
  TaskState.FAILED,
  TaskState.REJECTED,
  TaskState.CANCELED,
]);

function seen(runs: readonly ExampleRun[], outcome: ExampleRun["outcome"], fix: string): Judgement {
  const found = runs.filter((run) => run.outcome === outcome);
  return found.length > 0
    ? { verdict: "yes", evidence: found.map(nameRun).join(", ") }
    : { verdict: "unproven", evidence: `no example ${outcome}`, fix };
}

function nameRun({ skill, outcome, ms }: ExampleRun): string {
  return `${skill}: ${outcome} in ${ms} ms`;
}
