import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import type { Check } from "./check.ts";
import {
  areaOf,
  defaultNames,
  errorCodes,
  type Gap,
  type Requirement,
  requirements,
  specification,
} from "./requirements.ts";

/** The report that is published. */
export const reportUrl = new URL("../../docs/cli-compliance.yaml", import.meta.url);

/** The statuses of the specification's reports that there are before it is proposed. */
export type Status = "pass" | Gap["status"];

/** What became of a check in this run; a check that is not in it was not run. */
export type Outcomes = ReadonlyMap<Check, "passed" | "failed">;

/** One row of the report. */
export interface Finding {
  readonly requirement: Requirement;
  readonly status: Status;
  readonly note: string | null;
  /** Titles of the checks that show it. */
  readonly evidence: readonly string[];
}

const defaults = "A2ACLI_DEFAULT_001";

/**
 * Puts requirements, checks and gaps together, one row for each requirement. Fails closed: only what a check of this run
 * has shown is a pass, and only as long as all checks that show it passed.
 */
export function readFindings(
  rows: readonly Requirement[],
  outcomes: Outcomes,
  checks: readonly Check[],
  gaps: readonly Gap[],
): readonly Finding[] {
  return rows.map((requirement) => {
    const citing = checks.filter(({ shows }) => shows.includes(requirement.id));
    const gap = gaps.find(({ id }) => id === requirement.id);
    return {
      requirement,
      ...judge(requirement.id, outcomes, checks, gap),
      evidence: citing.map(({ title }) => title),
    };
  });
}

function judge(
  id: string,
  outcomes: Outcomes,
  checks: readonly Check[],
  gap: Gap | undefined,
): Pick<Finding, "status" | "note"> {
  const shown = isShown(id, outcomes, checks);
  const broken = checks.some((check) => check.shows.includes(id) && outcomes.get(check) === "failed");
  if (broken) {
    return { status: "fail", note: "A check of it fails." };
  }
  if (gap !== undefined) {
    return { status: gap.status, note: gap.note };
  }
  if (!shown) {
    return { status: "not_measured", note: "No check of it was run to its end." };
  }
  if (id === defaults && !defaultNames.every((name) => isWhole(name, outcomes, checks))) {
    return { status: "partial", note: "See default_001_breakdown." };
  }
  return { status: "pass", note: null };
}

/** Whether there is evidence of it, and nothing against it. */
function isShown(name: string, outcomes: Outcomes, checks: readonly Check[]): boolean {
  const citing = checks.filter(({ shows }) => shows.includes(name));
  return citing.length > 0 && citing.every((check) => outcomes.get(check) === "passed");
}

function isWhole(name: string, outcomes: Outcomes, checks: readonly Check[]): boolean {
  return ["shipped", "overridable"].every((aspect) => isShown(`${name}: ${aspect}`, outcomes, checks));
}

/** Sentences about gaps that are none, and about what has neither check nor gap; empty when all is well. */
export function findFaults(
  rows: readonly Requirement[],
  checks: readonly Check[],
  gaps: readonly Gap[],
): readonly string[] {
  const shown = new Set(checks.flatMap(({ shows }) => shows));
  const known = new Set(rows.map(({ id }) => id));
  const named = gaps.map(({ id }) => id);
  return [
    ...named.filter((id) => !known.has(id)).map((id) => `gaps.json: there is no requirement ${id}`),
    ...named.filter((id, at) => named.indexOf(id) !== at).map((id) => `gaps.json: ${id} is there twice`),
    ...gaps.filter(({ note }) => !/\w{3}/.test(note)).map(({ id }) => `gaps.json: ${id} has no note`),
    ...gaps
      .filter(({ id, status }) => shown.has(id) && status !== "partial")
      .map(({ id }) => `gaps.json: ${id} has a check, so it is no gap`),
    ...gaps
      .filter(({ id, status }) => !shown.has(id) && status === "partial")
      .map(({ id }) => `gaps.json: ${id} is partial, and no check shows the part that is there`),
    ...rows
      .filter(({ id }) => !shown.has(id) && !named.includes(id))
      .map(({ id }) => `${id} has neither a check nor a gap`),
  ];
}

interface TierSummary {
  readonly total: number;
  readonly pass: number;
  readonly partial: number;
  readonly fail: number;
  readonly not_measured: number;
  readonly na: number;
  readonly satisfied: boolean;
}

/** How one tier stands: satisfied only when nothing but passes (and what cannot apply) is there. */
export function summarise(findings: readonly Finding[], tier: number): TierSummary {
  const rows = findings.filter(({ requirement }) => requirement.tier === tier);
  const count = (status: Status) => rows.filter((row) => row.status === status).length;
  const [pass, na] = [count("pass"), count("na")];
  return {
    total: rows.length,
    pass,
    partial: count("partial"),
    fail: count("fail"),
    not_measured: count("not_measured"),
    na,
    satisfied: pass > 0 && pass + na === rows.length,
  };
}

/** The whole report, in the structure of the specification's template. */
export function renderReport(outcomes: Outcomes, checks: readonly Check[], gaps: readonly Gap[]): string {
  const findings = readFindings(requirements, outcomes, checks, gaps);
  const summary = {
    tier_1: summarise(findings, 1),
    tier_2: summarise(findings, 2),
    tier_3: summarise(findings, 3),
  };
  const tiers = Object.values(summary);
  const claimed = tiers.findIndex(({ satisfied }) => !satisfied); // tiers are cumulative
  const report = {
    report: {
      tool: "a2a",
      tool_version: readVersion(),
      language: "TypeScript",
      repository: "a2a-connect",
      maintainer: "the a2a-connect project",
      report_date: specification.revision,
      spec_version: specification.version,
      spec_revision: specification.revision,
      a2a_versions: ["1.0"],
      agent_tested: "packages/cli/test-support/controlled-agent.ts, served by a2a-connect itself",
      agent_tck_conformant: "unknown",
      transports_covered: ["HTTP+JSON", "JSON-RPC", "gRPC"],
      tier_claimed: claimed === -1 ? tiers.length : claimed,
    },
    summary,
    requirements: Object.fromEntries(findings.map((finding) => [finding.requirement.id, toRow(finding)])),
    default_001_breakdown: Object.fromEntries(
      defaultNames.map((name) => [
        name,
        {
          shipped: yesNo(isShown(`${name}: shipped`, outcomes, checks)),
          overridable: yesNo(isShown(`${name}: overridable`, outcomes, checks)),
          note: null,
        },
      ]),
    ),
    error_codes: Object.fromEntries(
      errorCodes.map((code) => [code, { emitted: yesNo(isShown(code, outcomes, checks)), note: null }]),
    ),
    attestation: {
      reported_by: "test/cli-compliance, which runs the command itself",
      date: specification.revision,
      statement: "The tier claimed reflects the evidence recorded above.",
    },
  };
  return `${heading}${stringify(report, { lineWidth: 0 })}`;
}

const heading = `# How the a2a command stands to the a2a-cli specification, in the structure of its compliance report.
# Written by \`vitest run test/cli-compliance -u\` from what the checks of that run have shown; never edited by hand.
# The dates are those of the specification's revision, so that this file changes only when a result does.

`;

function toRow({ requirement, status, note, evidence }: Finding): Record<string, unknown> {
  return {
    tier: requirement.tier,
    area: areaOf(requirement),
    spec: requirement.spec,
    requirement: requirement.summary.replaceAll("`", ""),
    status,
    note,
    evidence: evidence.length === 0 ? null : `test/cli-compliance: ${evidence.join("; ")}`,
  };
}

/** As the template writes it: words of YAML 1.1 that are strings here. */
function yesNo(value: boolean): "yes" | "no" {
  return value ? "yes" : "no";
}

function readVersion(): string {
  const manifest = readFileSync(new URL("../../packages/cli/package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version; // our own package.json
}
