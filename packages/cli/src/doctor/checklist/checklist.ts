import type { AgentClient } from "@a2a-connect/client";
import type { AgentCard } from "@a2a-connect/proto";
import type { ExampleRun } from "../../smoke/run-example.ts";
import type { Finding } from "../finding.ts";

/** Whether the agent has what production asks for; `unproven` when nothing that it did shows it. */
export type Verdict = "yes" | "no" | "unproven";

/** One line of the checklist. */
export interface ChecklistItem {
  /** Stable, for programs. */
  readonly id: string;
  /** What is asked, as a statement: "Questions time out". */
  readonly title: string;
  readonly verdict: Verdict;
  /** What the verdict stands on. */
  readonly evidence: string;
  /** What to do about it; undefined when there is nothing to do. */
  readonly fix?: string;
}

/** What the verdicts are made of. */
export interface ChecklistFacts {
  readonly card: AgentCard;
  readonly findings: readonly Finding[];
  /** Each skill's first example, tried. */
  readonly runs: readonly ExampleRun[];
  /** A client of the agent, for what has to be tried. */
  readonly agent: AgentClient;
  readonly signal: AbortSignal;
  /** For each thing that is tried. */
  readonly timeoutMs: number;
}

/** What a check gives, beside its id and title. */
export type Judgement = Omit<ChecklistItem, "id" | "title">;

/** Points of a checklist: `unproven` counts as not there. */
export function scoreOf(items: readonly ChecklistItem[]): { readonly points: number; readonly of: number } {
  return { points: items.filter(({ verdict }) => verdict === "yes").length, of: items.length };
}
