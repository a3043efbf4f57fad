import { partText } from "@a2a-connect/core";
import {
  type AgentClient,
  type ConnectOptions,
  type Question,
  type ResumeOptions,
  visibleText,
} from "@a2a-connect/node/client";
import { type Part, type Task, TaskState } from "@a2a-connect/proto";
import { type ClashResolver, readClash } from "./clash.ts";
import { type Tell, tellArtifact, tellProgress } from "./tell.ts";

const skill = "consolidate";

/** How a worker is connected to: one that can ask, and has the skill. */
export const workerConnection: ConnectOptions = {
  requires: { inputRequired: true, skills: [skill] },
  retry: { maxDelayMs: 2_000 }, // it comes back soon
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
  const { task } = await agent.resume(taskId, toRunOptions(conduct));
  return assertCompleted(task);
}

function toRunOptions({ resolve, tell = () => {}, onTask, signal }: Conduct): ResumeOptions {
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
    throw new Error(`The worker gave no memory set: ${visibleText(words)}`);
  }
  return task;
}
