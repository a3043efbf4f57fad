/** How bad it is: `problem` keeps callers out, `warning` some of them or some day, `note` is worth knowing. */
export type Severity = "ok" | "note" | "warning" | "problem";

/** One thing that was looked at, in words for people. */
export interface Finding {
  /** What it is about, `subject.aspect`; stable, for programs. */
  readonly id: string;
  readonly severity: Severity;
  /** One sentence. */
  readonly what: string;
  /** What was seen. Of strangers: to be stripped before a terminal gets it. */
  readonly evidence?: string;
  /** What to do about it. */
  readonly fix?: string;
  /** The interfaces that it is true for, when it is about some of them. */
  readonly at?: readonly string[];
}

/** How many findings there are of each severity. */
export type FindingCount = Readonly<Record<Severity, number>>;

/** Counts findings by severity. */
export function countFindings(findings: readonly Finding[]): FindingCount {
  const count = { ok: 0, note: 0, warning: 0, problem: 0 };
  for (const { severity } of findings) count[severity]++;
  return count;
}

/** Makes one of findings that differ only in the interface they are about, evidence of the first. */
export function mergeFindings(findings: readonly Finding[]): Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of findings) {
    const key = [finding.id, finding.severity, finding.what, finding.fix].join("\n");
    const before = merged.get(key);
    merged.set(
      key,
      before === undefined ? finding : { ...before, at: [...(before.at ?? []), ...(finding.at ?? [])] },
    );
  }
  return [...merged.values()];
}

/** Longest piece of somebody else's text in a finding, in UTF-16 units. */
const maxQuoteLength = 200;

/** Somebody else's text as evidence: on one line, and not too long. */
export function quote(text: string): string {
  const line = text
    .slice(0, 4 * maxQuoteLength)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxQuoteLength ? `${line.slice(0, maxQuoteLength)}…` : line;
}
