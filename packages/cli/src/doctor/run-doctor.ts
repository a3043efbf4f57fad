import { type CardReference, readCardInput } from "../agent/reference.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { defined, isObject, parseJson } from "../json.ts";
import type { Output } from "../output.ts";
import { formatDuration } from "../settings/values.ts";
import type { ExaminedCard } from "./card-location.ts";
import { type ChecklistItem, runChecklist } from "./checklist.ts";
import { type Diagnosis, examine } from "./examine.ts";
import { countFindings, type Finding } from "./findings.ts";

export interface DoctorFlags {
  readonly checklist?: boolean;
  readonly restartCommand?: string;
  readonly requestTimeout: number;
}

/** Examines an agent and says in plain words what is wrong with it; exits with 1 when there is a problem. */
export async function runDoctor(
  context: CommandContext,
  given: string | undefined,
  flags: DoctorFlags,
): Promise<void> {
  const { output } = context;
  context.needReader();
  if (flags.restartCommand !== undefined && flags.checklist !== true) {
    throw usageError("--restart-command works only with --checklist", "add --checklist");
  }
  const diagnosis = await diagnose(context, given, flags);
  const { findings, card } = diagnosis;
  const checklist =
    flags.checklist === true
      ? await runChecklist(context, given, diagnosis, flags.restartCommand, (item) => printItem(output, item))
      : undefined;
  const count = countFindings(findings);
  if (count.problem > 0) context.exitWith(1);
  const points = checklist?.filter(({ verdict }) => verdict === "yes").length;
  const result = {
    card: card === undefined ? null : { name: card.name, version: card.version },
    cardUrl: diagnosis.cardUrl ?? null,
    count,
    ...(checklist && { score: { points, of: checklist.length } }),
  };
  await output.document(output.streaming ? { result } : { ...result, findings, ...defined({ checklist }) });
  const counted = (["problem", "warning", "note"] as const).map(
    (what) => `${count[what]} ${what}${count[what] === 1 ? "" : "s"}`,
  );
  await output.fields({
    Summary: `${counted.join(", ")}, ${count.ok} ok`,
    Score: checklist && `${points} of ${checklist.length}`,
  });
}

async function diagnose(
  context: CommandContext,
  given: string | undefined,
  { requestTimeout: timeoutMs }: DoctorFlags,
): Promise<Diagnosis> {
  const { io, output, signal } = context;
  const agent = await context.locate(given);
  const settings = await context.withhold(agent);
  const { reference } = agent;
  const target = reference.kind === "url" ? new URL(reference.url) : await readFile(reference);
  if (target instanceof URL) {
    const limit = formatDuration(timeoutMs);
    await output.note(
      `Asking ${target.origin} for its card; each request may take ${limit} (--request-timeout).`,
    );
  }
  const onFinding = (finding: Finding) => printFinding(output, finding);
  return await examine(target, { settings, io, timeoutMs, signal, onFinding });
}

async function readFile({ path }: Extract<CardReference, { kind: "file" }>): Promise<ExaminedCard> {
  const text = await readCardInput(path, path);
  const json = parseJson(text);
  if (isObject(json)) return { url: undefined, text, json };
  throw new CliError("A2ACLI_ERR_CARD_INVALID", `${path} is not a card: it is not a JSON object`);
}

const labels = { ok: "OK", note: "Note", warning: "Warning", problem: "Problem" } as const;

/** What it is, then what was seen and what to do, where that matters. */
async function printFinding(output: Output, finding: Finding): Promise<void> {
  const { severity, what, evidence, fix, at } = finding;
  await output.event(finding);
  await output.field(labels[severity], `${what}${at === undefined ? "" : ` (${at.join(", ")})`}`);
  if (severity !== "ok" || output.verbose) await output.fields({ Evidence: evidence, Fix: fix });
}

const verdicts = { yes: "yes", no: "NO", unproven: "not proved" } as const;

async function printItem(output: Output, item: ChecklistItem): Promise<void> {
  await output.event(item);
  const { title, verdict, evidence, fix } = item;
  await output.fields({ Check: `${title}: ${verdicts[verdict]}`, Evidence: evidence, Fix: fix });
}
