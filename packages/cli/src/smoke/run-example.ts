import {
  type AgentClient,
  AuthRequiredError,
  InputModeError,
  InputRequiredError,
  RunTimeoutError,
  TaskCanceledError,
  TaskError,
  TaskFailedError,
  TaskRejectedError,
} from "@a2a-connect/client";
import { partText } from "@a2a-connect/core";
import type { AgentSkill, Task } from "@a2a-connect/proto";
import { describeFailure } from "../failures.ts";

/** The tag of a skill whose first example is there to fail, or to be refused: `smoke` wants exactly that of it. */
export const expectedFailureTag = "expected-failure";

/**
 * How a skill took its example: `completed` with a result, `answered` with a message alone, `asks` and `wants-auth` are
 * alive as well. `skipped`: there was nothing that could be sent.
 */
export type ExampleOutcome = "completed" | "answered" | Ending | "timeout" | "error" | "skipped";

/** How a task ends or stops without a result. */
type Ending = "asks" | "wants-auth" | "failed" | "rejected" | "canceled";

export interface ExampleRun {
  readonly skill: string;
  /** What was sent; undefined when nothing was. */
  readonly example: string | undefined;
  readonly outcome: ExampleOutcome;
  readonly sentence: string | undefined;
  /** The reason for machines, where the agent gives one. */
  readonly reason: string | undefined;
  readonly task: Task | undefined;
  /** The same, after it had asked and was canceled; undefined when it was not. */
  readonly canceled: Task | undefined;
  readonly ms: number;
}

interface RunExampleOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How much longer than the run itself we wait for it to end. */
const lastWordsMs = 3_000;
/** For canceling a task that asks; nobody will answer it. */
const cancelTimeoutMs = 5_000;

/** Whether the outcome is that of a skill that works. */
export function isAlive(outcome: ExampleOutcome): boolean {
  return outcome === "completed" || outcome === "answered" || outcome === "asks" || outcome === "wants-auth";
}

/** Whether the agent ended the task itself, without a result. */
export function isRefusal(outcome: ExampleOutcome): boolean {
  return outcome === "failed" || outcome === "rejected";
}

/**
 * Sends a skill's first example and sees what comes of it. A task that asks is canceled: nobody would answer it.
 * @throws the signal's reason when it is aborted; everything else is an outcome
 */
export async function runExample(
  agent: AgentClient,
  skill: AgentSkill,
  { timeoutMs, signal }: RunExampleOptions,
): Promise<ExampleRun> {
  const [example = ""] = skill.examples;
  if (example === "") {
    const skipped = ended("skipped", "it has no example to send");
    return { skill: skill.id, example: undefined, ...skipped, canceled: undefined, ms: 0 };
  }
  const startedAt = performance.now();
  const end = await tryExample(agent, skill.id, example, { timeoutMs, signal });
  const ms = Math.round(performance.now() - startedAt);
  let canceled: Task | undefined;
  if ((end.outcome === "asks" || end.outcome === "wants-auth") && end.task !== undefined) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(cancelTimeoutMs)]);
    canceled = await agent.cancelTask(end.task.id, { signal: limit }).catch(() => undefined);
    signal.throwIfAborted(); // else what was not canceled ends by itself, when its question times out
  }
  return { skill: skill.id, example, ...end, canceled, ms };
}

type Ended = Pick<ExampleRun, "outcome" | "sentence" | "reason" | "task">;

function ended(outcome: ExampleOutcome, sentence: string | undefined, task?: Task, reason?: string): Ended {
  return { outcome, sentence, reason, task };
}

async function tryExample(
  agent: AgentClient,
  skill: string,
  example: string,
  { timeoutMs, signal }: RunExampleOptions,
): Promise<Ended> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + lastWordsMs)]);
  const late = (task?: Task) => ended("timeout", `no result within ${timeoutMs} ms`, task);
  try {
    const { task, message } = await agent.run(example, { skill, deadlineMs: timeoutMs, signal: limit });
    const sentence = message === undefined ? undefined : partText(message);
    return ended(task === undefined ? "answered" : "completed", sentence, task);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return late();
    if (error instanceof RunTimeoutError) return late(error.task);
    if (error instanceof InputModeError) return ended("skipped", error.message);
    if (error instanceof TaskError) {
      const { reason, task, statusMessage } = error;
      const said = statusMessage === undefined ? "" : partText(statusMessage);
      const [, outcome = "error"] = endings.find(([type]) => error instanceof type) ?? [];
      return ended(outcome, said === "" ? error.message : said, task, reason);
    }
    const { code, message } = await describeFailure(error, { hasCredentials: true });
    return ended("error", message, undefined, code);
  }
}

/** What the client throws in place of a result. */
const endings = [
  [InputRequiredError, "asks"],
  [AuthRequiredError, "wants-auth"],
  [TaskFailedError, "failed"],
  [TaskRejectedError, "rejected"],
  [TaskCanceledError, "canceled"],
] as const;
