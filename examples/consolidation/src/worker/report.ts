import type { Fact } from "./fact.ts";
import type { Memory } from "./memory.ts";

/** What came of a batch, for people. */
export interface ReportInput {
  readonly transcripts: number;
  /** Facts as they were extracted, duplicates and all. */
  readonly extracted: number;
  readonly asked: number;
  readonly unclear: readonly Fact[];
  readonly memories: readonly Memory[];
}

/** A page of plain text: the numbers, then what is known, subject by subject. */
export function writeReport({ transcripts, extracted, asked, unclear, memories }: ReportInput): string {
  const current = memories.filter(({ status }) => status === "current");
  const subjects = Map.groupBy(current, ({ subject }) => subject);
  return [
    `${transcripts} transcripts, ${extracted} facts, ${asked} contradictions asked about.`,
    `${current.length} memories about ${subjects.size} subjects; ${countOf(memories, "former")} former, ${countOf(memories, "rejected")} rejected.`,
    ...unclear.map(
      ({ subject, evidence }) => `Left out, since it is not clear who "${subject}" is: “${evidence.quote}”`,
    ),
    ...[...subjects].flatMap(([subject, known]) => ["", subject, ...known.map(writeMemory)]),
    "",
  ].join("\n");
}

function writeMemory({ predicate, value, evidence }: Memory): string {
  return `  ${predicate.replaceAll("_", " ")}: ${value}${evidence.length > 1 ? ` (${evidence.length} times)` : ""}`;
}

function countOf(memories: readonly Memory[], status: Memory["status"]): number {
  return memories.filter((memory) => memory.status === status).length;
}
