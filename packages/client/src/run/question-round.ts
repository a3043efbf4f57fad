import { findA2AError } from "@a2a-connect/core";
import {
  type Part,
  PartSchema,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-connect/proto";
import { isMessage } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { InputMessage } from "../call-options.ts";
import { SendUncertainError } from "../errors.ts";
import { isSameQuestion, isSameStatus, stateOf } from "../follow/task-status.ts";
import type { TaskTracker } from "../follow/task-tracker.ts";
import type { WakeUp } from "../follow/wake-up.ts";
import { callBack, callbackError } from "./callback-error.ts";
import { readQuestion } from "./question.ts";
import type { AuthAnswer, AuthResolver, Question, ResumeOptions } from "./run-types.ts";
import { unansweredError } from "./task-outcome.ts";

/** The next event of a task, or its end. */
export type NextEvent = IteratorResult<StreamResponse, void>;

/** What a question needs of the client. */
export interface QuestionHost {
  readonly tracker: TaskTracker;
  /** Makes the events look for news at once. */
  readonly wakeUp: WakeUp;
  /** Sends the answer to a question; resolves when the agent took it. */
  answer(input: InputMessage, signal: AbortSignal): Promise<void>;
  cancel(taskId: string, signal: AbortSignal): Promise<unknown>;
  /** The task's current status; undefined when it cannot be read. */
  currentStatus(taskId: string, signal: AbortSignal): Promise<TaskStatus | undefined>;
}

/** What one round of a question needs of its run. */
export interface Round {
  readonly host: QuestionHost;
  readonly options: ResumeOptions;
  readonly signal: AbortSignal;
  /** Asks for the next event. */
  readonly read: () => Promise<NextEvent>;
  /** Gives the caller an event that comes while the question is open. */
  readonly report: (event: StreamResponse, task: Task) => Promise<void>;
}

/**
 * Has a question answered. Meanwhile it watches the task: if the task goes on by itself, because another client has
 * answered or the question timed out, the question is withdrawn.
 *
 * @returns the next event; undefined when it was not read yet
 * @throws TaskError when there is no answer, CallbackError when the callback throws or its answer is refused
 */
export async function answerQuestion(task: Task, round: Round): Promise<NextEvent | undefined> {
  const { host, options, signal } = round;
  const asked = task.status;
  const resolver =
    stateOf(task) === TaskState.AUTH_REQUIRED ? options.onAuthRequired : options.onInputRequired;
  if (resolver === undefined) {
    throw unansweredError(task);
  }
  // Events may be replayed, for instance those of a repeated send. A question that was answered long ago is not asked
  // again.
  if (!(await isStillAsked(task, asked, round))) {
    return undefined;
  }
  const moot = new AbortController();
  const pending = ask(resolver, readQuestion(task, AbortSignal.any([signal, moot.signal])), task, signal);
  pending.catch(() => {}); // awaited below, unless the question is withdrawn
  try {
    let next = round.read();
    for (;;) {
      const first = await Promise.race([
        pending.then((answer) => ({ answer })),
        next.then((event) => ({ event })),
      ]);
      if ("answer" in first) {
        next.catch(() => {}); // awaited below, unless the answer is refused
        await deliver(first.answer, task, round);
        return await next;
      }
      const { event } = first;
      if (event.done === true || !isSameStatus(asked, host.tracker.task?.status)) {
        return event;
      }
      await round.report(event.value, task);
      next = round.read();
    }
  } finally {
    moot.abort(new Error("the question is no longer open"));
  }
}

async function isStillAsked(
  task: Task,
  asked: Task["status"],
  { host, signal }: Pick<Round, "host" | "signal">,
): Promise<boolean> {
  const current = await host.currentStatus(task.id, signal);
  return current === undefined || isSameQuestion(asked, current);
}

function ask(
  resolver: AuthResolver,
  question: Question,
  task: Task,
  signal: AbortSignal,
): Promise<AuthAnswer> {
  const name = question.kind === "auth" ? "onAuthRequired" : "onInputRequired";
  return callBack(name, () => resolver(question), task, signal);
}

async function deliver(answer: AuthAnswer, task: Task, round: Round): Promise<void> {
  const { host } = round;
  // Callers without types may return any value.
  if (answer === undefined || answer === null) {
    throw unansweredError(task);
  }
  if (typeof answer === "object" && "cancel" in answer && answer.cancel === true) {
    await cancel(task, round);
  } else if (!(typeof answer === "object" && "resolved" in answer && answer.resolved === true)) {
    await sendAnswer(toMessage(answer, task), task, round);
  }
  host.wakeUp.now();
}

function toMessage(answer: NonNullable<AuthAnswer>, task: Task): InputMessage {
  const ids = { taskId: task.id, contextId: task.contextId };
  if (isContent(answer)) {
    return { parts: answer, ...ids };
  }
  if (typeof answer === "object" && "parts" in answer && isContent(answer.parts)) {
    return { ...answer, ...ids };
  }
  throw callbackError("the callback for its question gave an answer that cannot be sent", task);
}

function isContent(value: unknown): value is string | readonly Part[] {
  return (
    typeof value === "string" || (Array.isArray(value) && value.every((part) => isMessage(part, PartSchema)))
  );
}

async function sendAnswer(message: InputMessage, task: Task, { host, signal }: Round): Promise<void> {
  const asked = task.status;
  try {
    await host.answer(message, signal);
  } catch (error) {
    const isUncertain = error instanceof SendUncertainError;
    if ((isUncertain || mayHaveMovedOn(error)) && !(await isStillAsked(task, asked, { host, signal }))) {
      return; // the agent took it, or another client has answered, or the task has ended: its events say which
    }
    if (isUncertain) {
      throw callbackError("it is not known whether its answer was taken", task, error);
    }
    throw error instanceof ConnectError ? callbackError("its answer was refused", task, error) : error;
  }
}

async function cancel(task: Task, { host, signal }: Round): Promise<void> {
  const asked = task.status;
  try {
    await host.cancel(task.id, signal);
  } catch (error) {
    if (findA2AError(error)?.reason !== "TASK_NOT_CANCELABLE") {
      throw error;
    }
    if (await isStillAsked(task, asked, { host, signal })) {
      throw callbackError("it could not be canceled", task, error);
    } // otherwise it has ended by itself, and its events say how
  }
}

function mayHaveMovedOn(error: unknown): boolean {
  const reason = findA2AError(error)?.reason;
  return reason === "UNSUPPORTED_OPERATION" || reason === "TASK_GENERATION_MISMATCH";
}
