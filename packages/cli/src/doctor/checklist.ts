import type { AgentClient } from "@a2a-connect/client";
import { readLifecycleParams } from "@a2a-connect/client/internal";
import { findA2AError, formatTaskState, partText, readLifecycleReport } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import { type AgentCard, type Task, TaskState } from "@a2a-connect/proto";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { type ExampleRun, isAlive, runExample } from "../smoke/run-example.ts";
import { isPinnable } from "./card.ts";
import rows from "./checklist.json" with { type: "json" };
import type { Diagnosis } from "./examine.ts";
import { runShell } from "./restart.ts";

/** One line of the checklist: whether the agent has what production asks for. */
export interface ChecklistItem extends Judgement {
  /** Stable, for programs. */
  readonly id: string;
  /** What is asked, as a statement: "Questions time out". */
  readonly title: string;
}

interface Judgement {
  /** `unproven` when nothing that the agent did shows it; it counts as not there. */
  readonly verdict: "yes" | "no" | "unproven";
  readonly evidence: string;
  /** Unless it is a yes, by default that of the check. */
  readonly fix?: string;
}

/** What the verdicts are made of. */
interface Facts extends Pick<Diagnosis, "findings" | "results"> {
  readonly card: AgentCard;
  /** Each skill's first example, tried. */
  readonly runs: readonly ExampleRun[];
  readonly agent: AgentClient;
  /** Ends one call or one trial. */
  readonly limit: () => AbortSignal;
  readonly signal: AbortSignal;
  readonly restartCommand: string | undefined;
}

const yes = (evidence: string): Judgement => ({ verdict: "yes", evidence });
const no = (evidence: string): Judgement => ({ verdict: "no", evidence });
const unproven = (evidence: string): Judgement => ({ verdict: "unproven", evidence });

/** One fault is a no; what is there without a fault is a yes. @param lack why nothing shows it, where nothing is there */
function weigh(faults: readonly string[], proofs: readonly string[], lack = ""): Judgement {
  if (faults.length > 0) return no(faults.join("; "));
  return proofs.length > 0 ? yes(proofs.join("; ")) : unproven(lack);
}

/** How long an example, one call of a trial, a restart, and the server after it until it answers, may take. */
const trialTimeoutMs = 60_000;

/**
 * Scores how ready an agent is for production, by what was found and by each skill's first example, which it sends. Undefined for an
 * agent without a card that can be read, or that cannot be called: a note says so.
 */
export async function runChecklist(
  context: CommandContext,
  given: string | undefined,
  { card, findings, results }: Diagnosis,
  restartCommand: string | undefined,
  onItem: (item: ChecklistItem) => Promise<void>,
): Promise<readonly ChecklistItem[] | undefined> {
  const { output, signal } = context;
  if (card === undefined) {
    await output.note("The checklist needs a card that can be read.");
    return undefined;
  }
  const agent = await context.openAgent({ reference: given }).catch(async (error: unknown) => {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    await output.note(`The checklist needs an agent that can be called: ${why}`);
  });
  if (agent === undefined) return undefined;
  const sent = card.skills.flatMap(({ id, examples: [text] }) =>
    text === undefined ? [] : [`${id}: "${text}"`],
  );
  await output.note(`The checklist sends to the agent: ${sent.join(", ") || "nothing"}.`);
  const runs: ExampleRun[] = [];
  for (const skill of card.skills) {
    runs.push(await runExample(agent, skill, { timeoutMs: trialTimeoutMs, signal }));
  }
  const limit = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(trialTimeoutMs)]);
  const facts: Facts = { card, findings, results, runs, agent, limit, signal, restartCommand };
  const items: ChecklistItem[] = [];
  for (const id of Object.keys(rows) as (keyof typeof rows)[]) {
    // A trial that breaks proves nothing, and must not hide the others.
    const judgement = await (async () => await checks[id](facts))().catch((error: unknown) => {
      signal.throwIfAborted();
      return unproven(error instanceof Error ? error.message : String(error));
    });
    const { title, fix } = rows[id];
    const item = { id, title, ...(judgement.verdict !== "yes" && { fix }), ...judgement };
    items.push(item);
    await onItem(item);
  }
  return items;
}

/** What each check comes to. The table has their order: what disturbs the server comes last. */
const checks: Readonly<Record<keyof typeof rows, (facts: Facts) => Judgement | Promise<Judgement>>> = {
  findings: ({ findings }) =>
    weigh(
      findings.filter(({ severity }) => severity === "problem").map(({ id }) => id),
      ["no problem was found"],
    ),
  access: judgeAccess,
  version: ({ card: { version } }) => (isPinnable(version) ? yes(version) : no(version || "none")),
  caching: (facts) => judgeRequirement(facts, "L-5"),
  descriptions: ({ card, findings }) =>
    weigh(
      findings
        .filter(({ id, severity }) => /^skills\.|^card\.description/.test(id) && severity === "warning")
        .map(({ what, evidence = "" }) => `${what} ${evidence}`.trim()),
      [`${card.skills.length} skill(s), each with description and example`],
    ),
  examples: judgeExamples,
  "state.completed": ({ runs }) => judgeSeen(runs, ["completed"]),
  "state.input-required": ({ card, runs }) =>
    readLifecycleParams(card)?.asks === false ? neverAsks : judgeSeen(runs, ["asks"]),
  "state.failed": ({ runs }) => judgeSeen(runs, ["failed", "rejected"]),
  "state.canceled": judgeCancel,
  reasons: judgeReasons,
  "question-timeout": judgeQuestionTimeout,
  resume: tryResume,
  idempotency: tryIdempotency,
  durability: tryDurability,
};

const neverAsks = yes("the card says that the agent never asks");

function judgeAccess(facts: Facts): Judgement {
  const { card, findings } = facts;
  if (findings.some(({ id }) => id === "network.cleartext")) return no("it is called without TLS");
  return card.securityRequirements.length === 0
    ? no("the card requires no credentials")
    : judgeRequirement(facts, "O-2");
}

/** What the conformance kit has found out about a requirement. */
function judgeRequirement({ results }: Facts, id: string): Judgement {
  const about = results.filter(({ scenario }) => scenario.ids.includes(id));
  const failed = about.filter(({ outcome }) => outcome === "failed");
  const passed = about.filter(({ outcome }) => outcome === "passed");
  return weigh(
    failed.map(({ scenario, sentence }) => `"${scenario.title}": ${sentence}`).slice(0, 1),
    passed.map(({ scenario }) => scenario.title).slice(0, 1),
    "it could not be tried",
  );
}

/** Refusing an example is an end, too. */
function judgeExamples({ runs }: Facts): Judgement {
  const tried = runs.filter(({ outcome }) => outcome !== "skipped");
  const lost = tried.filter(({ outcome }) => outcome === "timeout" || outcome === "error");
  return weigh(lost.map(nameRun), tried.map(nameRun), "no skill has an example");
}

function judgeSeen(runs: readonly ExampleRun[], wanted: readonly ExampleRun["outcome"][]): Judgement {
  const found = runs.filter(({ outcome }) => wanted.includes(outcome));
  return weigh([], found.map(nameRun), `no example ${wanted.join(" or ")}`);
}

function nameRun({ skill, outcome, ms }: ExampleRun): string {
  return `${skill}: ${outcome} in ${ms} ms`;
}

function judgeCancel({ runs }: Facts): Judgement {
  const asking = runs.filter(({ outcome }) => outcome === "asks" || outcome === "wants-auth");
  const stuck = asking.filter(({ canceled }) => canceled?.status?.state !== TaskState.CANCELED);
  return weigh(
    stuck.map(({ skill }) => skill),
    asking.map(({ skill }) => `${skill}: canceled while it waited for an answer`).slice(0, 1),
    "no task was waiting, so none could be canceled",
  );
}

/** Whether tasks that end without a result say why, to people and to machines. */
function judgeReasons({ runs }: Facts): Judgement {
  const ended = runs
    .flatMap(({ skill, task, canceled }) => [task, canceled].map((each) => ({ skill, status: each?.status })))
    .filter(({ status }) => status !== undefined && endsWithout.has(status.state))
    .map(({ skill, status }) => {
      const { reason } = readLifecycleReport(status?.message?.metadata);
      const says = status?.message !== undefined && partText(status.message) !== "";
      const name = `${skill}: ${formatTaskState(stateOf({ status }))}`;
      return { text: `${name}, ${reason ?? "no reason"}`, isComplete: says && reason !== undefined };
    });
  const silent = ended.filter(({ isComplete }) => !isComplete);
  return weigh(
    silent.map(({ text }) => text),
    ended.map(({ text }) => text),
    "no task ended without a result",
  );
}

const endsWithout = new Set<TaskState>([TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED]);

function judgeQuestionTimeout({ card }: Facts): Judgement {
  const params = readLifecycleParams(card);
  if (params === undefined) return no("the card does not have the lifecycle extension");
  if (params.asks === false && params.asksForAuth !== true) return neverAsks;
  return params.longestWaitSeconds === undefined
    ? no("the card gives no longestWaitSeconds: questions wait for ever")
    : yes(`longestWaitSeconds: ${params.longestWaitSeconds}`);
}

async function tryResume({ card, runs, agent, limit }: Facts): Promise<Judgement> {
  if (card.capabilities?.streaming !== true) return unproven("the agent does not stream");
  const task = runs.find(({ outcome }) => outcome === "completed")?.task;
  if (task === undefined) return noTask;
  const stream = agent.follow(task.id, { after: 0, signal: limit() });
  let events = 0;
  for await (const _ of stream) events++;
  return stream.lastEventId !== undefined && events > 1
    ? yes(`${events} events replayed from the beginning`)
    : no("events have no ids, or the server does not replay them");
}

async function tryIdempotency(facts: Facts): Promise<Judgement> {
  if (readLifecycleParams(facts.card)?.idempotencyKeys !== true) return no("the card does not promise that");
  const twice = { idempotencyKey: crypto.randomUUID(), messageId: crypto.randomUUID() };
  const first = await sendExample(facts, twice);
  if (first === undefined) return noTask;
  const second = await sendExample(facts, twice);
  await endQuietly(facts, first);
  if (second?.id === first.id) return yes("two sends with one key gave one task");
  if (second !== undefined) await endQuietly(facts, second);
  return no("two sends with one key gave two tasks");
}

async function tryDurability(facts: Facts): Promise<Judgement> {
  const { agent, limit, signal, restartCommand } = facts;
  if (restartCommand === undefined) {
    const fix = "Say how: --restart-command 'systemctl restart my-agent'.";
    return { ...unproven("nothing was restarted"), fix };
  }
  const before = await sendExample(facts, {});
  if (before === undefined) return noTask;
  const why = await runShell(restartCommand, trialTimeoutMs, signal);
  if (why !== undefined) {
    const fix = "The command must end with code 0 as soon as the server has started.";
    return { ...unproven(`the restart command failed: ${why}`), fix };
  }
  const stream = agent.follow(before.id, { signal: limit() });
  try {
    for await (const _ of stream) break; // it waits until the server answers
  } catch (error) {
    signal.throwIfAborted();
    return findA2AError(error)?.reason === "TASK_NOT_FOUND"
      ? no(`task ${before.id} is gone after the restart`)
      : { ...no("the server no longer answers after the restart"), fix: "Read the server's log." };
  }
  await endQuietly(facts, before);
  const state = formatTaskState(stateOf(stream.task ?? {}));
  return yes(`task ${before.id} is still there after the restart, ${state}`);
}

const noTask = unproven("no example leads to a task");

/** Sends an example that makes a task: the slowest, which is most likely still at work when it is looked at again. */
async function sendExample(
  { runs, agent, limit }: Facts,
  { messageId, ...keys }: { readonly idempotencyKey?: string; readonly messageId?: string },
): Promise<Task | undefined> {
  const made = runs.filter(({ outcome, task }) => task !== undefined && isAlive(outcome));
  const [run] = made.toSorted((one, other) => other.ms - one.ms);
  if (run === undefined) return undefined;
  const { payload } = await agent.sendMessage(
    { parts: run.example ?? "", ...defined({ messageId }) },
    { skill: run.skill, returnImmediately: true, signal: limit(), ...keys },
  );
  return payload.case === "task" ? payload.value : undefined;
}

/** What was started for a trial is not left to run. */
async function endQuietly({ agent, limit, signal }: Facts, { id }: Task): Promise<void> {
  await agent.cancelTask(id, { signal: limit() }).catch(() => signal.throwIfAborted()); // it had ended
}
