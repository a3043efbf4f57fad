import type { Output } from "../output.ts";
import type { ChecklistItem } from "./checklist/checklist.ts";
import type { Finding } from "./finding.ts";

const labels = { ok: "OK", note: "Note", warning: "Warning", problem: "Problem" } as const;

/** A finding in fields: what it is, then what was seen and what to do, where that matters. */
export async function printFinding(output: Output, finding: Finding): Promise<void> {
  const { severity, what, evidence, fix, at } = finding;
  if (output.format === "json") {
    if (output.streaming) await output.document(finding);
    return;
  }
  // Where all is well the names of many interfaces say nothing.
  const isCrowd = at !== undefined && at.length > 5 && severity === "ok" && !output.verbose;
  const where = at === undefined ? "" : ` (${isCrowd ? `${at.length} interfaces` : at.join(", ")})`;
  await output.field(labels[severity], `${what}${where}`);
  if (severity !== "ok" || output.verbose) {
    await output.field("Evidence", evidence);
    await output.field("Fix", fix);
  }
}

const verdicts = { yes: "yes", no: "NO", unproven: "not proved" } as const;

/** An item of the checklist in fields. */
export async function printChecklistItem(output: Output, item: ChecklistItem): Promise<void> {
  if (output.format === "json") {
    if (output.streaming) await output.document(item);
    return;
  }
  await output.field("Check", `${item.title}: ${verdicts[item.verdict]}`);
  await output.field("Evidence", item.evidence);
  await output.field("Fix", item.fix);
}
