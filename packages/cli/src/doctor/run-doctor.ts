import { createGuardedFetch } from "@a2a-connect/node";
import { nodePlatform } from "@a2a-connect/node/client";
import type { CardVerdict } from "@a2a-connect/signing";
import { findCallHeaders } from "../agent/credential-places.ts";
import { type CardReference, readCardInput, resolveCardReference } from "../agent/reference.ts";
import { findCardVerifier } from "../agent/trust.ts";
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
  { requestTimeout }: DoctorFlags,
): Promise<Diagnosis> {
  const { io, output, signal } = context;
  const reference = await resolveCardReference(given ?? context.settings.agentCard, io);
  const settings = await context.permittedSettings(reference, given);
  const { insecure, serviceParameters } = settings;
  const target = reference.kind === "url" ? new URL(reference.url) : await readFile(reference);
  const platform = nodePlatform({
    connectTimeoutMs: requestTimeout,
    tls: { insecure },
    ...(target instanceof URL && { cardUrl: target }),
  });
  try {
    if (target instanceof URL) {
      const limit = formatDuration(requestTimeout);
      await output.note(
        `Asking ${target.origin} for its card; each request may take ${limit} (--request-timeout).`,
      );
    }
    return await examine(target, {
      ...{ fetch: platform.fetch ?? globalThis.fetch, timeoutMs: requestTimeout, insecure, signal },
      cardHeaders: serviceParameters,
      headersFor: (card) => findCallHeaders(card, settings),
      verify: await findCardVerifier(settings, io),
      ownOrigin: (text, url) => verifyByOwnOrigin(text, url, signal),
      onFinding: (finding) => printFinding(output, finding),
    });
  } finally {
    await platform.close();
  }
}

/** Asks the key set that a card's signature names, where that is on the card's own origin. */
async function verifyByOwnOrigin(text: string, url: string, signal: AbortSignal): Promise<CardVerdict> {
  const { verifyCard } = await import("@a2a-connect/signing");
  await using guarded = createGuardedFetch({ allow: [new URL(url).host] });
  return await verifyCard(text, { trustPolicy: { jku: { fetch: guarded.fetch } }, url, signal });
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
