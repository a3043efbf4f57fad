import type { Requirement } from "@a2a-connect/conformance";
import { defined } from "../json.ts";
import rows from "./findings.json" with { type: "json" };

/** How bad it is: `problem` keeps callers out, `warning` some of them or some day, `note` is worth knowing. */
export type Severity = "ok" | "note" | "warning" | "problem";

/** One thing that was looked at, in words for people. */
export interface Finding {
  /** A key of the table below, an id of a requirement, or the letter of a group of them; stable, for programs. */
  readonly id: string;
  readonly severity: Severity;
  readonly what: string;
  /** What was seen. May quote a server: to be stripped before a terminal gets it. */
  readonly evidence?: string;
  readonly fix?: string;
  /** The interfaces that it is true for, when it is about some of them. */
  readonly at?: readonly string[];
}

interface Row extends Pick<Finding, "severity" | "what" | "fix"> {
  /** The system's codes and the reasons of A2A errors that mean this. */
  readonly codes?: readonly string[];
}

/** What there is a row for: how bad it is, what it is, and what to do about it. */
export type FindingId = keyof typeof rows;

const table = rows as Readonly<Record<FindingId, Row>>; // in JSON a severity is any string

export function find(id: FindingId, evidence?: string, at?: readonly string[]): Finding {
  return toFinding(id, table[id], evidence, at);
}

/** The findings that there is evidence for; `true`: there is nothing to quote. */
export function findAll(
  evidence: Readonly<Partial<Record<FindingId, boolean | readonly string[]>>>,
): Finding[] {
  return (Object.keys(evidence) as FindingId[]).flatMap((id) => {
    const seen = evidence[id] ?? false;
    if (typeof seen === "boolean") return seen ? [find(id)] : [];
    return seen.length > 0 ? [find(id, seen.join(", "))] : [];
  });
}

/** What a code of the system, or the reason of an A2A error, means. */
export const idsByCode: ReadonlyMap<string | undefined, FindingId> = new Map(
  (Object.keys(rows) as FindingId[]).flatMap((id) => (table[id].codes ?? []).map((code) => [code, id])),
);

/** The finding about a requirement that is not met. Where the table has nothing about it, a MUST is a warning, and all else a note. */
export function findUnmet(
  { id, sentence, source }: Requirement,
  { title, isMust, seen }: { readonly title: string; readonly isMust: boolean; readonly seen: string },
  at: readonly string[],
): Finding {
  // A requirement can demand several things: then a row is about one scenario of it.
  const known = [`${id} ${title}`, id].find((key): key is FindingId => Object.hasOwn(rows, key));
  const where = source.length === 0 ? "" : `See ${source.join(", ")} of the specification. `;
  const row: Row = known
    ? table[known]
    : {
        severity: isMust ? "warning" : "note",
        what: `The server does not meet this requirement: ${sentence}`,
        fix: `${where}a2a conformance --only ${id} --verbose shows the requests and answers.`,
      };
  return toFinding(id, row, `"${title}": ${seen}`, at);
}

function toFinding(id: string, row: Row, evidence?: string, at?: readonly string[]): Finding {
  const { severity, what, fix } = row;
  return { id, severity, what, ...defined({ fix, evidence: evidence && quote(evidence), at }) };
}

export function countFindings(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const count = { ok: 0, note: 0, warning: 0, problem: 0 };
  for (const { severity } of findings) count[severity]++;
  return count;
}

/** Makes one of findings that differ only in the interface that they are about, with the evidence of the first. */
export function mergeFindings(findings: readonly Finding[]): Finding[] {
  const merged = Map.groupBy(findings, ({ id, what }) => `${id} ${what}`);
  return [...merged.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const at = [first, ...more].flatMap((each) => each.at ?? []);
    return [at.length === 0 ? first : { ...first, at: [...new Set(at)] }];
  });
}

const maxQuoteLength = 300;

/** A server's text as evidence: on one line, and not too long. */
function quote(text: string): string {
  const line = text
    .slice(0, 4 * maxQuoteLength)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxQuoteLength ? `${line.slice(0, maxQuoteLength)}…` : line;
}
