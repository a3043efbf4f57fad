import type { AgentClient } from "@a2a-connect/client";
import {
  findA2AError,
  formatTaskState,
  lifecycleExtension,
  partText,
  readLifecycleReport,
} from "@a2a-connect/core";
import { type AgentCard, type Task, TaskState } from "@a2a-connect/proto";
import type { CommandContext } from "../context.ts";
import { type ExampleRun, expectedFailureTag, isAlive, runExample } from "../smoke/run-example.ts";
import { isPinnable } from "./card.ts";
import type { Diagnosis } from "./examine.ts";
import { runShell, untilAnswered } from "./restart.ts";

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
const no = (evidence: string, fix: string): Judgement => ({ verdict: "no", evidence, fix });
const unproven = (evidence: string, fix?: string): Judgement =>
  fix === undefined ? { verdict: "unproven", evidence } : { verdict: "unproven", evidence, fix };

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
  for (const [id, [title, judge]] of Object.entries(checks)) {
    // A trial that breaks proves nothing, and must not hide the others.
    const judgement = await (async () => await judge(facts))().catch((error: unknown) => {
      signal.throwIfAborted();
      return unproven(error instanceof Error ? error.message : String(error));
    });
    const item = { id, title, ...judgement };
    items.push(item);
    await onItem(item);
  }
  return items;
}

/** Each check: its title, and what it comes to. What disturbs the server comes last. */
const checks: Readonly<Record<string, readonly [string, (facts: Facts) => Judgement | Promise<Judgement>]>> =
  {
    findings: ["Nothing keeps callers out", judgeFindings],
    access: ["Only callers with credentials get in", judgeAccess],
    version: [
      "Callers can pin the agent's version",
      ({ card: { version } }) =>
        isPinnable(version)
          ? yes(version)
          : no(version || "none", "Give it a semantic version, and raise it with every change."),
    ],
    caching: [
      "Clients can cache the card, and check it for changes",
      (facts) => judgeRequirement(facts, "L-5", "Send Cache-Control and ETag, and answer If-None-Match."),
    ],
    descriptions: ["A model can choose agent and skills by their descriptions", judgeDescriptions],
    examples: ["Each skill finishes its first example, or asks a question", judgeExamples],
    "state.completed": [
      "A task completes",
      ({ runs }) => judgeSeen(runs, ["completed"], "Give a skill an example that leads to a result."),
    ],
    "state.input-required": ["A task asks a question", judgeQuestions],
    "state.failed": [
      "A task fails or is refused",
      ({ runs }) =>
        judgeSeen(runs, ["failed", "rejected"], `Show a refusal, in a skill tagged ${expectedFailureTag}.`),
    ],
    "state.canceled": ["A task that waits can be canceled", judgeCancel],
    reasons: ["Tasks without a result say why", judgeReasons],
    "question-timeout": ["Questions without an answer time out", judgeQuestionTimeout],
    resume: ["A broken stream can be resumed", tryResume],
    idempotency: ["A message that is sent twice is handled once", tryIdempotency],
    durability: ["Tasks survive a restart", tryDurability],
  };

function judgeFindings({ findings }: Facts): Judgement {
  const ids = findings.flatMap(({ id, severity }) => (severity === "problem" ? [id] : []));
  return ids.length === 0 ? yes("no problem was found") : no(ids.join(", "), "See above.");
}

function judgeAccess(facts: Facts): Judgement {
  const { card, findings } = facts;
  if (findings.some(({ id }) => id === "network.cleartext"))
    return no("it is called without TLS", "Serve https.");
  if (card.securityRequirements.length === 0) {
    const fix = "Require credentials, here or in a proxy, and declare them in the card.";
    return no("the card requires no credentials", fix);
  }
  return judgeRequirement(facts, "O-2", "Refuse callers without credentials with UNAUTHENTICATED.");
}

/** What the conformance kit has found out about a requirement. */
function judgeRequirement({ results }: Facts, id: string, fix: string): Judgement {
  const about = results.filter(({ scenario }) => scenario.ids.includes(id));
  const failed = about.find(({ outcome }) => outcome === "failed");
  const passed = about.find(({ outcome }) => outcome === "passed");
  if (failed !== undefined) return no(`"${failed.scenario.title}": ${failed.sentence}`, fix);
  return passed === undefined ? unproven("it could not be tried", fix) : yes(passed.scenario.title);
}

function judgeDescriptions({ card, findings }: Facts): Judgement {
  const flaws = findings
    .filter(({ id, severity }) => /^skills\.|^card\.description/.test(id) && severity === "warning")
    .map(({ what, evidence = "" }) => `${what} ${evidence}`.trim());
  return flaws.length === 0
    ? yes(`${card.skills.length} skill(s), each with description and example`)
    : no(flaws.join(" "), "Say what goes in, what comes out and when to use it, and give an example.");
}

/** Refusing an example is an end, too. */
function judgeExamples({ runs }: Facts): Judgement {
  const tried = runs.filter(({ outcome }) => outcome !== "skipped");
  const lost = tried.filter(({ outcome }) => outcome === "timeout" || outcome === "error");
  if (tried.length === 0) return unproven("no skill has an example", "Give each skill one.");
  return lost.length === 0 ? yes(nameRuns(tried)) : no(nameRuns(lost), "Let every task end, or ask.");
}

function judgeSeen(
  runs: readonly ExampleRun[],
  outcomes: readonly ExampleRun["outcome"][],
  fix: string,
): Judgement {
  const found = runs.filter(({ outcome }) => outcomes.includes(outcome));
  return found.length > 0 ? yes(nameRuns(found)) : unproven(`no example ${outcomes.join(" or ")}`, fix);
}

function judgeQuestions({ card, runs }: Facts): Judgement {
  return lifecycleParams(card)?.["asks"] === false
    ? yes("the card says that the agent never asks")
    : judgeSeen(runs, ["asks"], "Give a skill an example that leads to a question, or say asks: false.");
}

function judgeCancel({ runs }: Facts): Judgement {
  const asking = runs.filter(({ outcome }) => outcome === "asks" || outcome === "wants-auth");
  const stuck = asking.filter(({ canceled }) => canceled?.status?.state !== TaskState.CANCELED);
  if (asking.length === 0) return unproven("no task was waiting, so none could be canceled");
  return stuck.length === 0
    ? yes(`${asking[0]?.skill}: canceled while it waited for an answer`)
    : no(stuck.map(({ skill }) => skill).join(", "), "When a caller cancels a waiting task, end it at once.");
}

/** Whether tasks that end without a result say why, to people and to machines. */
function judgeReasons({ runs }: Facts): Judgement {
  const ended = runs
    .flatMap(({ skill, task, canceled }) => [task, canceled].map((each) => ({ skill, status: each?.status })))
    .filter(({ status }) => status !== undefined && endsWithout.has(status.state))
    .map(({ skill, status }) => {
      const { reason } = readLifecycleReport(status?.message?.metadata);
      const says = status?.message !== undefined && partText(status.message) !== "";
      const name = `${skill}: ${formatTaskState(status?.state ?? TaskState.UNSPECIFIED)}`;
      return { text: `${name}, ${reason ?? "no reason"}`, isComplete: says && reason !== undefined };
    });
  const silent = ended.filter(({ isComplete }) => !isComplete);
  const fix = "Put a sentence into the status message and a reason into its metadata (lifecycle extension).";
  if (ended.length === 0) return unproven("no task ended without a result");
  return silent.length === 0
    ? yes(ended.map(({ text }) => text).join("; "))
    : no(silent.map(({ text }) => text).join("; "), fix);
}

const endsWithout = new Set<TaskState>([TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED]);

function judgeQuestionTimeout({ card }: Facts): Judgement {
  const params = lifecycleParams(card);
  if (params === undefined) {
    const fix = "Declare how long questions wait (docs/extensions/lifecycle.md).";
    return no("the card does not have the lifecycle extension", fix);
  }
  if (params["asks"] === false && params["asksForAuth"] !== true)
    return yes("the card says that the agent never asks");
  const longest = params["longestWaitSeconds"];
  return typeof longest === "number"
    ? yes(`longestWaitSeconds: ${longest}`)
    : no("the card gives no longestWaitSeconds: questions wait for ever", "Limit how long questions wait.");
}

/** Settings of the lifecycle extension in a card; undefined when the card does not have it. */
function lifecycleParams({ capabilities }: AgentCard): Readonly<Record<string, unknown>> | undefined {
  const found = capabilities?.extensions.find(({ uri }) => uri === lifecycleExtension);
  return found === undefined ? undefined : (found.params ?? {});
}

function nameRuns(runs: readonly ExampleRun[]): string {
  return runs.map(({ skill, outcome, ms }) => `${skill}: ${outcome} in ${ms} ms`).join(", ");
}

async function tryResume({ card, runs, agent, limit }: Facts): Promise<Judgement> {
  if (card.capabilities?.streaming !== true) return unproven("the agent does not stream");
  const task = runs.find(({ outcome }) => outcome === "completed")?.task;
  if (task === undefined) return noTask;
  const stream = agent.follow(task.id, { after: 0, signal: limit() });
  let events = 0;
  for await (const _ of stream) events++;
  const fix = "Number the events of a stream, and honour Last-Event-ID.";
  return stream.lastEventId !== undefined && events > 1
    ? yes(`${events} events replayed from the beginning`)
    : no("events have no ids, or the server does not replay them", fix);
}

async function tryIdempotency(facts: Facts): Promise<Judgement> {
  if (lifecycleParams(facts.card)?.["idempotencyKeys"] !== true) {
    const fix = "Honour Idempotency-Key, and say idempotencyKeys: true in the lifecycle extension.";
    return no("the card does not promise that", fix);
  }
  const twice = { idempotencyKey: crypto.randomUUID(), messageId: crypto.randomUUID() };
  const first = await sendExample(facts, twice);
  if (first === undefined) return noTask;
  const second = await sendExample(facts, twice);
  await endQuietly(facts, first);
  if (second?.id === first.id) return yes("two sends with one key gave one task");
  if (second !== undefined) await endQuietly(facts, second);
  return no("two sends with one key gave two tasks", "Answer the second send with the task of the first.");
}

async function tryDurability(facts: Facts): Promise<Judgement> {
  const { agent, signal, restartCommand } = facts;
  if (restartCommand === undefined) {
    return unproven("nothing was restarted", "Say how: --restart-command 'systemctl restart my-agent'.");
  }
  const before = await sendExample(facts, {});
  if (before === undefined) return noTask;
  const why = await runShell(restartCommand, trialTimeoutMs, signal);
  if (why !== undefined) {
    const fix = "The command must end with code 0 as soon as the server has started.";
    return unproven(`the restart command failed: ${why}`, fix);
  }
  const ask = (call: AbortSignal) => agent.rpc.getTask({ id: before.id }, { signal: call });
  const after = await untilAnswered(ask, trialTimeoutMs, signal);
  if ("answer" in after) {
    await endQuietly(facts, after.answer);
    const state = formatTaskState(after.answer.status?.state ?? TaskState.UNSPECIFIED);
    return yes(`task ${before.id} is still there after the restart, ${state}`);
  }
  return findA2AError(after.error)?.reason === "TASK_NOT_FOUND"
    ? no(`task ${before.id} is gone after the restart`, "Keep tasks in a store that outlives the process.")
    : no("the server no longer answers after the restart", "Read the server's log.");
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
    { parts: run.example ?? "", ...(messageId === undefined ? {} : { messageId }) },
    { skill: run.skill, returnImmediately: true, signal: limit(), ...keys },
  );
  return payload.case === "task" ? payload.value : undefined;
}

/** What was started for a trial is not left to run. */
async function endQuietly({ agent, limit, signal }: Facts, { id }: Task): Promise<void> {
  await agent.cancelTask(id, { signal: limit() }).catch(() => signal.throwIfAborted()); // it had ended
}
