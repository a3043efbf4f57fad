import type { AgentClient } from "@a2a-connect/client";
import { findA2AError, formatTaskState } from "@a2a-connect/core";
import { type SendMessageResponse, type Task, TaskState } from "@a2a-connect/proto";
import { type ExampleRun, isAlive } from "../../smoke/run-example.ts";
import type { ChecklistFacts, Judgement } from "./checklist.ts";
import { lifecycleParams } from "./judge-card.ts";
import { runShell, untilAnswered } from "./restart.ts";

/** How long a restart command may take, and the server afterwards until it answers. */
export const restartTimeoutMs = 60_000;

/** Whether a send that is repeated under its key is taken once. Sends an example twice. */
export async function tryIdempotency(facts: ChecklistFacts): Promise<Judgement> {
  if (lifecycleParams(facts.card)?.["idempotencyKeys"] !== true) {
    return {
      verdict: "no",
      evidence: "the card does not promise it",
      fix: "Honour Idempotency-Key, and say idempotencyKeys: true in the lifecycle extension.",
    };
  }
  const run = runWithTask(facts);
  if (run === undefined) return noTask;
  const idempotencyKey = crypto.randomUUID();
  const messageId = crypto.randomUUID();
  const first = await sendOnly(facts, run, { idempotencyKey, messageId });
  const second = await sendOnly(facts, run, { idempotencyKey, messageId });
  await endQuietly(facts, first);
  if (second !== undefined && second.id !== first?.id) await endQuietly(facts, second);
  return first !== undefined && first.id === second?.id
    ? { verdict: "yes", evidence: "two sends with one key gave one task" }
    : {
        verdict: "no",
        evidence: "two sends with one key gave two tasks",
        fix: "Give the first one's task back.",
      };
}

/** Whether a stream that broke off can be taken up where it was. Follows a finished task from its beginning. */
export async function tryResume(facts: ChecklistFacts): Promise<Judgement> {
  if (facts.card.capabilities?.streaming !== true) {
    return { verdict: "unproven", evidence: "the agent does not stream" };
  }
  const task = facts.runs.find(({ outcome }) => outcome === "completed")?.task;
  if (task === undefined) return noTask;
  const stream = facts.agent.follow(task.id, { after: 0, signal: limit(facts) });
  let events = 0;
  for await (const _ of stream) events++;
  return stream.lastEventId !== undefined && events > 1
    ? { verdict: "yes", evidence: `${events} events replayed from the beginning` }
    : {
        verdict: "no",
        evidence: "events have no ids, or are not replayed",
        fix: "Number the events of a stream, and honour Last-Event-ID.",
      };
}

/** Whether a task is still there after the server was restarted. Starts one, and runs the command. */
export async function tryDurability(
  facts: ChecklistFacts,
  restartCommand: string | undefined,
): Promise<Judgement> {
  if (restartCommand === undefined) {
    return {
      verdict: "unproven",
      evidence: "nothing was restarted",
      fix: "Say how: --restart-command 'systemctl restart my-agent'.",
    };
  }
  const run = runWithTask(facts);
  if (run === undefined) return noTask;
  const before = await sendOnly(facts, run, {});
  if (before === undefined) return noTask;
  const restarted = await runShell(restartCommand, restartTimeoutMs, facts.signal);
  if (!restarted.ok) {
    return {
      verdict: "unproven",
      evidence: `the restart command failed: ${restarted.why}`,
      fix: "Let it end with code 0 when the server has been started.",
    };
  }
  const { agent, signal } = facts;
  const after = await untilAnswered(
    (call) => agent.rpc.getTask({ id: before.id }, { signal: call }),
    restartTimeoutMs,
    signal,
  );
  if ("answer" in after) {
    await endQuietly(facts, after.answer);
    return {
      verdict: "yes",
      evidence: `task ${before.id} is still there after the restart, ${formatTaskState(after.answer.status?.state ?? TaskState.UNSPECIFIED)}`,
    };
  }
  return findA2AError(after.error)?.reason === "TASK_NOT_FOUND"
    ? {
        verdict: "no",
        evidence: `task ${before.id} is gone after the restart`,
        fix: "Keep tasks in a store that outlives the process.",
      }
    : {
        verdict: "no",
        evidence: "the server does not answer any more after the restart",
        fix: "Look into its log.",
      };
}

const noTask: Judgement = { verdict: "unproven", evidence: "no example leads to a task" };

/** An example that works and makes a task: the slowest, which is most likely still at work when it is looked at again. */
function runWithTask({ runs }: ChecklistFacts): ExampleRun | undefined {
  const made = runs.filter(({ outcome, task }) => task !== undefined && isAlive(outcome));
  return made.toSorted((one, other) => other.ms - one.ms)[0];
}

async function sendOnly(
  facts: ChecklistFacts,
  { skill, example = "" }: ExampleRun,
  { idempotencyKey, messageId }: { readonly idempotencyKey?: string; readonly messageId?: string },
): Promise<Task | undefined> {
  const response = await facts.agent.sendMessage(
    { parts: example, ...(messageId === undefined ? {} : { messageId }) },
    {
      skill,
      returnImmediately: true,
      signal: limit(facts),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    },
  );
  return taskIn(response);
}

function taskIn({ payload }: SendMessageResponse): Task | undefined {
  return payload.case === "task" ? payload.value : undefined;
}

/** What was started for a trial is not left to run. */
async function endQuietly(facts: ChecklistFacts, task: Task | undefined): Promise<void> {
  if (task === undefined) return;
  const { agent }: { readonly agent: AgentClient } = facts;
  try {
    await agent.cancelTask(task.id, { signal: limit(facts) });
  } catch {
    facts.signal.throwIfAborted(); // it had ended
  }
}

function limit({ signal, timeoutMs }: ChecklistFacts): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
}
