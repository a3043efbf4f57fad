import { findA2AError, isInterrupted } from "@a2a-connect/core";
import { type StreamResponse, type Task, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { ConnectError } from "@connectrpc/connect";
import type { Input, InputMessage } from "../agent-client.ts";
import type { ClientClock } from "../clock.ts";
import type { ArtifactReader } from "../content/artifact-reader.ts";
import { CallbackError, RunTimeoutError } from "../errors.ts";
import { isSameStatus, stateOf, type TaskTracker } from "../follow/task-tracker.ts";
import type { WakeUp } from "../follow/wake-up.ts";
import { readQuestion } from "./question.ts";
import { createRunResult } from "./run-result.ts";
import type { Answer, AuthAnswer, AuthResolver, Question, ResumeOptions, RunResult } from "./run-types.ts";
import { taskError, unansweredError } from "./task-outcome.ts";

/** What a run needs of the client. */
export interface RunHost {
  readonly clock: ClientClock;
  /** Sends the message and gives all events of its task, to its end. */
  open(signal: AbortSignal, deadline: Date | undefined): AsyncGenerator<StreamResponse, void>;
  readonly tracker: TaskTracker;
  /** The status that a task had before the message was sent to it: no question of this run. */
  readonly staleStatus: TaskStatus | undefined;
  /** Makes the events look for news at once. */
  readonly wakeUp: WakeUp;
  /** Sends the answer to a question; resolves when it was taken. */
  answer(input: InputMessage, signal: AbortSignal): Promise<void>;
  cancel(taskId: string): Promise<unknown>;
  /** The status that the task has now; undefined when nobody can tell. */
  currentStatus(taskId: string): Promise<TaskStatus | undefined>;
  /** The task as the agent has it at the end, where its stream may have left something out. */
  finalTask(task: Task): Promise<Task>;
  read(task: Task): readonly ArtifactReader[];
}

/**
 * Sees a message through to its result: follows the task through every state, has questions answered, and ends with what
 * came of it.
 *
 * @throws TaskError when the task ended without a result, or waits for somebody who is not there
 */
export async function runTask(host: RunHost, options: ResumeOptions): Promise<RunResult> {
  const ended = new AbortController();
  const timer = startDeadline(host, options, ended);
  const outer = options.signal ?? ended.signal;
  const signal = AbortSignal.any([outer, ended.signal]);
  const events = host.open(signal, timer.deadline);
  try {
    return await conduct(host, options, events, signal);
  } catch (error) {
    if (options.signal?.aborted === true && options.cancelOnAbort === true) {
      await cancelQuietly(host);
    }
    throw signal.aborted ? signal.reason : error;
  } finally {
    ended.abort(new Error("the run is over"));
    timer.stop();
    // Not awaited: it would wait for a read under way, which the abort ends.
    events.return().catch(() => {});
  }
}

async function conduct(
  host: RunHost,
  options: ResumeOptions,
  events: AsyncGenerator<StreamResponse, void>,
  signal: AbortSignal,
): Promise<RunResult> {
  const { tracker } = host;
  let announced = false;
  let next: Promise<IteratorResult<StreamResponse, void>> | undefined;
  for (;;) {
    const { done, value: event } = await (next ?? events.next());
    next = undefined;
    if (done === true) {
      break;
    }
    if (event.payload.case === "message") {
      return createRunResult(undefined, event.payload.value, []);
    }
    const { task } = tracker;
    if (task === undefined) {
      continue;
    }
    if (!announced) {
      announced = true;
      await options.onTask?.(task);
    }
    await report(event, task, options);
    if (endsTurn(event) && isInterrupted(stateOf(task)) && !isSameStatus(task.status, host.staleStatus)) {
      if (findResolver(task, options) === undefined) {
        throw unansweredError(task);
      }
      next = events.next(); // the task may move on before there is an answer
      next.catch(() => {}); // awaited in the next round, unless the callback throws before
      await resolve(host, options, task, next, signal);
    }
  }
  const { task } = tracker;
  if (task === undefined) {
    throw new Error("the events of a task ended before they began");
  }
  const final = await host.finalTask(task);
  const failure = taskError(final);
  if (failure !== undefined) {
    throw failure;
  }
  return createRunResult(final, final.status?.message, host.read(final));
}

function findResolver(task: Task, options: ResumeOptions): AuthResolver | undefined {
  return stateOf(task) === TaskState.AUTH_REQUIRED ? options.onAuthRequired : options.onInputRequired;
}

function endsTurn({ payload }: StreamResponse): boolean {
  return payload.case === "task" || payload.case === "statusUpdate";
}

async function report({ payload }: StreamResponse, task: Task, options: ResumeOptions): Promise<void> {
  try {
    if (payload.case === "statusUpdate") {
      await options.onProgress?.(payload.value, task);
    } else if (payload.case === "artifactUpdate") {
      await options.onArtifact?.(payload.value, task);
    }
  } catch (error) {
    throw callbackError("onProgress or onArtifact threw", task, error);
  }
}

/** Has a question answered, unless the task moves on by itself before. */
async function resolve(
  host: RunHost,
  options: ResumeOptions,
  task: Task,
  next: Promise<IteratorResult<StreamResponse, void>>,
  signal: AbortSignal,
): Promise<void> {
  const asked = task.status;
  // Events may be replayed, those of a repeated send are: a question that was answered long ago is asked nobody.
  const current = await host.currentStatus(task.id);
  if (current !== undefined && !isSameStatus(asked, current)) {
    return;
  }
  const moot = new AbortController();
  const question = readQuestion(task, AbortSignal.any([signal, moot.signal]));
  const pending = ask(findResolver(task, options), question, task);
  const moved = next.then(
    () => "moved" as const,
    () => "moved" as const,
  );
  const first = await Promise.race([pending, moved]);
  if (first === "moved" && !isSameStatus(asked, host.tracker.task?.status)) {
    moot.abort(new Error("the question is no longer open"));
    pending.catch(() => {}); // nobody waits for it
    return;
  }
  const answer = first === "moved" ? await untilAborted(pending, signal) : first;
  if (answer === undefined) {
    throw unansweredError(task);
  }
  if (typeof answer === "object" && "resolved" in answer) {
    host.wakeUp.now();
    return;
  }
  if (typeof answer === "object" && "cancel" in answer) {
    await host.cancel(task.id);
  } else {
    await sendAnswer(host, task, answer, signal);
  }
  host.wakeUp.now();
}

async function ask(resolver: AuthResolver | undefined, question: Question, task: Task): Promise<AuthAnswer> {
  if (resolver === undefined) {
    return undefined;
  }
  try {
    return await resolver(question);
  } catch (error) {
    throw callbackError("the callback for its question threw", task, error);
  }
}

async function sendAnswer(
  host: RunHost,
  task: Task,
  answer: Exclude<Answer, undefined | { readonly cancel: true }>,
  signal: AbortSignal,
): Promise<void> {
  const message: Exclude<Input, string | readonly unknown[]> =
    typeof answer === "string" || !("parts" in answer) ? { parts: answer } : answer;
  try {
    await host.answer({ ...message, taskId: task.id, contextId: task.contextId }, signal);
  } catch (error) {
    if (hasMovedOn(error)) {
      return; // somebody else has answered, or it has ended: its events say which
    }
    throw error instanceof ConnectError ? callbackError("its answer was refused", task, error) : error;
  }
}

function hasMovedOn(error: unknown): boolean {
  const reason = findA2AError(error)?.reason;
  return reason === "UNSUPPORTED_OPERATION" || reason === "TASK_GENERATION_MISMATCH";
}

function callbackError(what: string, task: Task, cause: unknown): CallbackError {
  const detail = cause instanceof Error ? `: ${cause.message}` : "";
  const waits = stateOf(task) === TaskState.INPUT_REQUIRED ? "It still waits for an answer" : "It goes on";
  return new CallbackError(`Task ${task.id}: ${what}${detail}`, task, {
    hint: `${waits}: follow or answer task ${task.id}.`,
    cause,
  });
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", onAbort));
}

interface Deadline {
  readonly deadline: Date | undefined;
  stop(): void;
}

function startDeadline(host: RunHost, { deadlineMs }: ResumeOptions, ended: AbortController): Deadline {
  if (deadlineMs === undefined) {
    return { deadline: undefined, stop: () => {} };
  }
  const stopped = new AbortController();
  host.clock.sleep(deadlineMs, stopped.signal).then(
    () => {
      const { task } = host.tracker;
      ended.abort(
        new RunTimeoutError(`The run took longer than ${deadlineMs} ms.`, task, {
          hint:
            task === undefined
              ? "Nothing is known of a task."
              : `Task ${task.id} may go on: follow or cancel it.`,
        }),
      );
    },
    () => {}, // stopped
  );
  return { deadline: new Date(host.clock.now() + deadlineMs), stop: () => stopped.abort() };
}

async function cancelQuietly(host: RunHost): Promise<void> {
  const { task } = host.tracker;
  if (task !== undefined) {
    await host.cancel(task.id).catch(() => {}); // the run ends either way
  }
}
