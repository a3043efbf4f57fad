import { isTerminal, partText } from "@a2a-connect/core";
import {
  type AgentClient,
  type ConnectOptions,
  InputRequiredError,
  type Question,
  type RunOptions,
  stripControlSequences,
} from "@a2a-connect/node/client";
import { type Part, type Task, TaskState } from "@a2a-connect/proto";
import { type ClashResolver, isObject, readClash } from "./clash.ts";
import { readData } from "./data-part.ts";
import { type Tell, tellArtifact, tellProgress } from "./tell.ts";

const skill = "consolidate";

/**
 * How a worker is connected to: one that can ask, and has the skill. While it is restarted, a call is tried again for
 * about half a minute.
 */
export const workerConnection: ConnectOptions = {
  requires: { inputRequired: true, skills: [skill] },
  retry: { attempts: 20, maxDelayMs: 2_000 },
};

/** How a batch is seen through. */
export interface Conduct {
  /** Decides each contradiction. Where it has no answer, this ends with an error, and the task waits. */
  readonly resolve: ClashResolver;
  /** Told what happens, a line at a time. */
  readonly tell?: Tell;
  /** Told the id of the task, as soon as there is one. */
  readonly onTask?: (taskId: string) => void | Promise<void>;
  /** Ends the watching, never the task. */
  readonly signal?: AbortSignal;
}

/**
 * Hands transcripts to a worker and sees them through to the memory set. The worker may die on the way and come back: the
 * client finds its task again.
 *
 * @param key names this send: with the same one it is not sent twice
 * @returns the task, COMPLETED, with its artifacts
 * @throws InputRequiredError when a question has no answer; TaskError when there is no result; AgentError for the rest
 */
export async function consolidate(
  agent: AgentClient,
  transcripts: readonly Part[],
  key: string,
  conduct: Conduct,
): Promise<Task> {
  const options = { ...toRunOptions(conduct), skill, idempotencyKey: key };
  const { task } = await agent.run({ parts: transcripts, messageId: key }, options);
  return assertCompleted(task);
}

/**
 * Goes on with a task that another process has begun: watches it until it asks or ends, and gives the answer that it
 * waits for.
 *
 * @throws as `consolidate`
 */
export async function resume(agent: AgentClient, taskId: string, conduct: Conduct): Promise<Task> {
  const { tell = () => {}, resolve, signal } = conduct;
  const events = agent.follow(taskId, { until: "settled", ...(signal === undefined ? {} : { signal }) });
  for await (const { payload } of events) {
    if (payload.case === "statusUpdate") {
      tellProgress(payload.value, tell);
    } else if (payload.case === "artifactUpdate") {
      tellArtifact(payload.value, tell);
    }
  }
  const { task } = events;
  if (task?.status === undefined || isTerminal(task.status.state)) {
    return assertCompleted(task);
  }
  const asked = readData(task.status.message?.parts ?? []);
  const answer = await decide(isObject(asked) ? asked["details"] : undefined, resolve, tell);
  if (answer === undefined) {
    throw new InputRequiredError(`Task ${taskId} waits for an answer.`, task);
  }
  const { contextId } = task;
  const continued = await agent.run({ parts: answer, taskId, contextId }, toRunOptions(conduct));
  return assertCompleted(continued.task);
}

function toRunOptions({ resolve, tell = () => {}, onTask, signal }: Conduct): RunOptions {
  return {
    onProgress: (update) => tellProgress(update, tell),
    onArtifact: (update) => tellArtifact(update, tell),
    onInputRequired: ({ details }: Question) => decide(details, resolve, tell),
    ...(onTask === undefined ? {} : { onTask: ({ id }) => onTask(id) }),
    ...(signal === undefined ? {} : { signal }),
  };
}

async function decide(
  details: Question["details"],
  resolve: ClashResolver,
  tell: Tell,
): Promise<string | undefined> {
  const clash = readClash(details);
  if (clash === undefined) {
    return undefined;
  }
  const answer = await resolve(clash);
  const values = clash.candidates.map(({ value }) => value).join(" or ");
  tell(
    `asked   ${clash.subject}, ${clash.predicate.replaceAll("_", " ")}: ${values}? ${answer ?? "(no answer)"}`,
  );
  return answer;
}

function assertCompleted(task: Task | undefined): Task {
  if (task?.status?.state !== TaskState.COMPLETED) {
    const words = task?.status?.message === undefined ? "without a word" : partText(task.status.message);
    throw new Error(`The worker gave no memory set: ${stripControlSequences(words)}`);
  }
  return task;
}
