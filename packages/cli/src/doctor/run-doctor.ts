import { webTransports } from "@a2a-connect/client/internal";
import { parseJsonText } from "@a2a-connect/core/internal";
import { nodePlatform } from "@a2a-connect/node/client";
import type { AgentCard, AgentInterface } from "@a2a-connect/proto";
import type { AgentSettings } from "../agent/agent-settings.ts";
import {
  type CallHeaders,
  createCallHeaders,
  type GivenCredentials,
  planCredentials,
} from "../agent/call-credentials.ts";
import { type CardReference, readCardFile, resolveCardReference } from "../agent/reference.ts";
import { findCardTrust, verifyByOwnOrigin } from "../agent/trust.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { formatDuration } from "../settings/values.ts";
import { runExample } from "../smoke/run-example.ts";
import { type ChecklistItem, scoreOf } from "./checklist/checklist.ts";
import { runChecklist } from "./checklist/run-checklist.ts";
import { type CardText, type Diagnosis, type ExamineOptions, examine, examineCardText } from "./examine.ts";
import { countFindings } from "./finding.ts";
import { printChecklistItem, printFinding } from "./print-diagnosis.ts";
import { parseTarget } from "./target.ts";

/** The options that `doctor` has beside those of every command that talks to an agent. */
export interface DoctorFlags {
  readonly checklist?: boolean;
  readonly restartCommand?: string;
  /** For each single request, in milliseconds. */
  readonly requestTimeout: number;
}

/** How long an example of the checklist may take. */
const exampleTimeoutMs = 60_000;

/**
 * Examines an agent and says in plain words what is wrong with it; exits with 1 when there is a problem.
 *
 * @throws CliError USAGE, CARD_NOT_FOUND for a file that is not there
 */
export async function runDoctor(
  context: CommandContext,
  given: string | undefined,
  flags: DoctorFlags,
): Promise<void> {
  const { output, settings, io } = context;
  context.needReader();
  if (flags.restartCommand !== undefined && flags.checklist !== true) {
    throw new CliError("A2ACLI_ERR_USAGE", "--restart-command is for --checklist");
  }
  const name = given ?? settings.agentCard;
  const reference = await resolveCardReference(name, io);
  const agentSettings = await context.permittedSettings(reference, given);
  const diagnosis = await diagnose(context, reference, agentSettings, flags);
  const checklist =
    flags.checklist === true ? await check(context, given, diagnosis, flags.restartCommand) : undefined;
  const count = countFindings(diagnosis.findings);
  if (count.problem > 0) context.exitWith(1);
  const score = checklist === undefined ? undefined : scoreOf(checklist);
  const result = {
    card:
      diagnosis.card === undefined ? null : { name: diagnosis.card.name, version: diagnosis.card.version },
    cardUrl: diagnosis.cardUrl ?? null,
    count,
    ...(score === undefined ? {} : { score }),
  };
  const { findings } = diagnosis;
  await output.document(
    output.streaming
      ? { result }
      : { ...result, findings, ...(checklist === undefined ? {} : { checklist }) },
  );
  await output.field(
    "Summary",
    `${counted(count.problem, "problem")}, ${counted(count.warning, "warning")}, ${counted(count.note, "note")}, ${count.ok} ok`,
  );
  if (score !== undefined) await output.field("Score", `${score.points} of ${score.of}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

async function diagnose(
  context: CommandContext,
  reference: CardReference,
  settings: AgentSettings,
  flags: DoctorFlags,
): Promise<Diagnosis> {
  const { io, output, signal } = context;
  const target = reference.kind === "url" ? parseTarget(reference.url) : undefined;
  const platform = nodePlatform({
    connectTimeoutMs: flags.requestTimeout,
    tls: settings.insecure ? { insecure: true } : {},
    ...(target === undefined ? {} : { cardUrl: target.url }),
  });
  const options: ExamineOptions = {
    fetch: platform.fetch ?? globalThis.fetch,
    transports: [...(platform.transports ?? []), ...webTransports],
    credentials: (card, served) => authenticate(card, served, settings),
    cardHeaders: settings.serviceParameters,
    timeoutMs: flags.requestTimeout,
    insecure: settings.insecure,
    trust: await findCardTrust(settings, io),
    ownOrigin: (text, url) => verifyByOwnOrigin(text, url, signal),
    signal,
    onFinding: (finding) => printFinding(output, finding),
  };
  try {
    if (target !== undefined) {
      const limit = formatDuration(flags.requestTimeout);
      await output.note(
        `Asking ${target.url.origin} for its card; each request may take ${limit} (--request-timeout).`,
      );
      return await examine(target, options);
    }
    return await examineCardText(await readText(reference), options);
  } finally {
    await platform.close?.();
  }
}

/** Without credentials that fit, callers are strangers: that, too, is worth examining. */
function authenticate(
  card: AgentCard,
  { protocolBinding }: AgentInterface,
  given: GivenCredentials,
): CallHeaders {
  const headers = createCallHeaders(given.serviceParameters);
  try {
    headers.use(planCredentials(card, given), () => protocolBinding);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
  }
  return headers;
}

async function readText(reference: CardReference): Promise<CardText> {
  const path = reference.kind === "file" ? reference.path : "";
  const text = await readCardFile(path);
  const json = parseJsonText(new TextEncoder().encode(text));
  if (json.ok) return { text, json: json.value };
  throw new CliError("A2ACLI_ERR_CARD_INVALID", `${path} is no card: it is not JSON`);
}

async function check(
  context: CommandContext,
  reference: string | undefined,
  { card, findings }: Diagnosis,
  restartCommand: string | undefined,
): Promise<readonly ChecklistItem[] | undefined> {
  const { output, signal } = context;
  if (card === undefined) {
    await output.note("The checklist needs a card that can be read.");
    return undefined;
  }
  const agent = await open(context, reference);
  if (agent === undefined) return undefined;
  const tried = card.skills.filter(({ examples: [example] }) => example !== undefined);
  await output.note(
    `The checklist sends to the agent: ${tried.map(({ id, examples: [example] }) => `${id}: "${example ?? ""}"`).join(", ") || "nothing"}.`,
  );
  const runs = [];
  for (const skill of card.skills) {
    runs.push(await runExample(agent, skill, { timeoutMs: exampleTimeoutMs, signal }));
  }
  const facts = { card, findings, runs, agent, signal, timeoutMs: exampleTimeoutMs };
  return await runChecklist(facts, { restartCommand, onItem: (item) => printChecklistItem(output, item) });
}

async function open(
  context: CommandContext,
  reference: string | undefined,
): Promise<Awaited<ReturnType<CommandContext["openAgent"]>> | undefined> {
  try {
    return await context.openAgent({ reference });
  } catch (error) {
    context.signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    await context.output.note(`The checklist needs an agent that can be called: ${why}`);
    return undefined;
  }
}
