import type { ChecklistFacts, ChecklistItem, Judgement } from "./checklist.ts";
import {
  judgeAccess,
  judgeCaching,
  judgeDescriptions,
  judgeFindings,
  judgeQuestionTimeout,
  judgeVersion,
} from "./judge-card.ts";
import {
  judgeCancel,
  judgeCompletion,
  judgeExamples,
  judgeFailures,
  judgeQuestions,
  judgeReasons,
} from "./judge-runs.ts";
import { tryDurability, tryIdempotency, tryResume } from "./trials.ts";

/** What a checklist is run with. */
export interface ChecklistOptions {
  /** Restarts the server; undefined: durability stays unproven. */
  readonly restartCommand: string | undefined;
  /** Told each item as soon as it is there. */
  readonly onItem?: (item: ChecklistItem) => Promise<void>;
}

/** One check of the list. */
interface Check {
  readonly id: string;
  readonly title: string;
  judge(facts: ChecklistFacts, options: ChecklistOptions): Judgement | Promise<Judgement>;
}

/** In the order they are told; what disturbs the server comes last. */
const checks: readonly Check[] = [
  { id: "findings", title: "Nothing keeps callers out", judge: judgeFindings },
  { id: "access", title: "Only callers who say who they are get in", judge: judgeAccess },
  { id: "version", title: "Callers can pin the agent's version", judge: judgeVersion },
  { id: "caching", title: "The card can be kept and checked for changes", judge: judgeCaching },
  {
    id: "descriptions",
    title: "A model can choose agent and skills by their descriptions",
    judge: judgeDescriptions,
  },
  { id: "examples", title: "Each skill brings its first example to an end, or asks", judge: judgeExamples },
  { id: "state.completed", title: "A task completes", judge: judgeCompletion },
  { id: "state.input-required", title: "A task asks", judge: judgeQuestions },
  { id: "state.failed", title: "A task fails or is refused", judge: judgeFailures },
  { id: "state.canceled", title: "A task that waits can be canceled", judge: judgeCancel },
  { id: "reasons", title: "Tasks without a result say why", judge: judgeReasons },
  { id: "question-timeout", title: "Questions that nobody answers end", judge: judgeQuestionTimeout },
  { id: "resume", title: "A broken stream can be taken up again", judge: tryResume },
  { id: "idempotency", title: "A repeated send is taken once", judge: tryIdempotency },
  {
    id: "durability",
    title: "Tasks survive a restart",
    judge: (facts, { restartCommand }) => tryDurability(facts, restartCommand),
  },
];

/** Goes through the checklist. @throws the signal's reason when it is aborted */
export async function runChecklist(
  facts: ChecklistFacts,
  options: ChecklistOptions,
): Promise<ChecklistItem[]> {
  const items: ChecklistItem[] = [];
  for (const { id, title, judge } of checks) {
    const item = { id, title, ...(await attempt(() => judge(facts, options), facts.signal)) };
    items.push(item);
    await options.onItem?.(item);
  }
  return items;
}

/** A trial that breaks proves nothing, and must not hide the others. */
async function attempt(judge: () => Judgement | Promise<Judgement>, signal: AbortSignal): Promise<Judgement> {
  try {
    return await judge();
  } catch (error) {
    signal.throwIfAborted();
    return { verdict: "unproven", evidence: error instanceof Error ? error.message : String(error) };
  }
}
