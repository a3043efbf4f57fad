import { readFileSync } from "node:fs";

/** One demand of the a2a-cli specification, in our own words. The ids are the specification's. */
export interface Requirement {
  readonly id: string;
  readonly tier: 1 | 2 | 3;
  /** Sections of the specification, as its report template names them. */
  readonly spec: string;
  readonly summary: string;
}

/** What the command does not do yet, or what no test here can show, and why. */
export interface Gap {
  readonly id: string;
  /** As the specification's reports say it; `partial` has tests for what is there. */
  readonly status: "partial" | "fail" | "not_measured" | "na";
  readonly note: string;
}

/** The revision of the specification that is measured against. The report carries no other date, so that it is stable. */
export const specification = { version: "0.2", revision: "2026-08-17" } as const;

/** All ids of that revision, in its order (requirements.json). */
export const requirements: readonly Requirement[] = readRows<Requirement>("requirements.json");

/** What is known to be missing (gaps.json). */
export const gaps: readonly Gap[] = readRows<Gap>("gaps.json");

/** The defaults of A2ACLI_DEFAULT_001, as the report breaks them down. */
export const defaultNames = [
  "transport_server_preference_order",
  "task_completion_wait_by_default",
  "output_human_readable_text",
  "detail_level_concise",
  "protocol_version_highest_mutual",
  "transport_security_tls_on",
] as const;

/** The command's own error codes, as Appendix D has them. */
export const errorCodes = [
  "A2ACLI_ERR_USAGE",
  "A2ACLI_ERR_CARD_NOT_FOUND",
  "A2ACLI_ERR_CARD_INVALID",
  "A2ACLI_ERR_UNREACHABLE",
  "A2ACLI_ERR_CREDENTIALS_MISSING",
  "A2ACLI_ERR_AUTH_FAILED",
  "A2ACLI_ERR_TIMEOUT",
  "A2ACLI_ERR_INTERNAL",
] as const;

/** What a default has to be. */
export const defaultAspects = ["shipped", "overridable"] as const;

/** Everything that a check can be evidence of: a requirement, an error code, one aspect of one default. */
export const evidenceNames: ReadonlySet<string> = new Set([
  ...requirements.map(({ id }) => id),
  ...errorCodes,
  ...defaultNames.flatMap((name) => defaultAspects.map((aspect) => `${name}: ${aspect}`)),
]);

/** `CARD_GET` of `A2ACLI_CARD_GET_001`. */
export function areaOf({ id }: Pick<Requirement, "id">): string {
  return id.replace(/^A2ACLI_/, "").replace(/_\d+$/, "");
}

function readRows<Row>(file: string): readonly Row[] {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as Row[]; // the tests look at every row
}
