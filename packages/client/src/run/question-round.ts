import { findA2AError } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import { type Part, PartSchema, type Task, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { isMessage } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { InputMessage } from "../call-options.ts";
import { renewCard } from "../client-context.ts";
import { SendUncertainError } from "../errors.ts";
import { isSameQuestion, isSameStatus } from "../follow/task-status.ts";
import { cancelTask, getTask } from "../operations/operations.ts";
import { keyFor } from "../send/idempotency-key.ts";
import { sendOnce } from "../send/send-once.ts";
import { createSendRequest } from "../send/send-request.ts";
import { callBack, callbackError } from "./callback-error.ts";
import { readQuestion } from "./question.ts";
import { type NextEvent, type Run, reportTo } from "./run.ts";
import type { AuthAnswer, AuthResolver, Question } from "./run-types.ts";
import { unansweredError } from "./task-outcome.ts";

/**
 * Has a question answered. Meanwhile it watches the task: if the task goes on by itself, because another client has
 * answered or the question timed out, the question is withdrawn.
 *
 * @returns the next event; undefined when it was not read yet
 * @throws TaskError when there is no answer, or when the question came too often, CallbackError when the callback throws or its answer is refused
 */
export async function answerQuestion(task: Task, run: Run): Promise<NextEvent | undefined> {
  const { options, events } = run;
  const { tracker, signal } = run.observation;
  const asked = task.status;
  const resolver =
    stateOf(task) === TaskState.AUTH_REQUIRED ? options.onAuthRequired : options.onInputRequired;
  if (resolver === undefined) {
    throw unansweredError(task);
  }
  // Events may be replayed, for instance those of a repeated send. A question that was answered long ago is not asked
  // again.
  if (!(await isStillAsked(task, asked, run))) {
    return undefined;
  }
  run.repeated.ask(task);
  const moot = new AbortController();
  const pending = ask(resolver, readQuestion(task, AbortSignal.any([signal, moot.signal])), task, signal);
  pending.catch(() => {}); // awaited below, unless the question is withdrawn
  try {
    let next = events.next();
    for (;;) {
      const first = await Promise.race([
        pending.then((answer) => ({ answer })),
        next.then((event) => ({ event })),
      ]);
      if ("answer" in first) {
        next.catch(() => {}); // awaited below, unless the answer is refused
        await deliver(first.answer, task, run);
        return await next;
      }
      const { event } = first;
      if (event.done === true || !isSameStatus(asked, tracker.task?.status)) {
        return event;
      }
      await reportTo(options, event.value, task, signal);
      next = events.next();
    }
  } finally {
    moot.abort(new Error("the question is no longer open"));
  }
}

async function isStillAsked(
  task: Task,
  asked: TaskStatus | undefined,
  { context, observation: { headers, signal } }: Run,
): Promise<boolean> {
  const current = await getTask(context, task.id, { historyLength: 0, headers, signal }).catch(
    () => undefined,
  );
  return current?.status === undefined || isSameQuestion(asked, current.status);
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

async function deliver(answer: AuthAnswer, task: Task, run: Run): Promise<void> {
  // Callers without types may return any value.
  if (answer === undefined || answer === null) {
    throw unansweredError(task);
  }
  if (typeof answer === "object" && "cancel" in answer && answer.cancel === true) {
    await cancel(task, run);
  } else if (typeof answer === "object" && "resolved" in answer && answer.resolved === true) {
    run.repeated.answered();
  } else {
    const message = toMessage(answer, task);
    run.repeated.answered(message);
    await sendAnswer(message, task, run);
  }
  run.observation.wakeUp.now();
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

async function sendAnswer(message: InputMessage, task: Task, run: Run): Promise<void> {
  const { context, observation } = run;
  const { settings } = context;
  const { headers, signal } = observation;
  const asked = task.status;
  try {
    await renewCard(context, signal, task.id);
    const request = createSendRequest(message, { returnImmediately: true }, settings.randomId);
    const sending = { headers, signal, key: keyFor(context), timeoutMs: settings.requestTimeoutMs };
    await sendOnce(context, request, sending);
  } catch (error) {
    const isUncertain = error instanceof SendUncertainError;
    if ((isUncertain || mayHaveMovedOn(error)) && !(await isStillAsked(task, asked, run))) {
      return; // the agent took it, or another client has answered, or the task has ended: its events say which
    }
    if (isUncertain) {
      throw callbackError("it is not known whether its answer was taken", task, error);
    }
    throw error instanceof ConnectError ? callbackError("its answer was refused", task, error) : error;
  }
}

async function cancel(task: Task, run: Run): Promise<void> {
  const { headers, signal } = run.observation;
  const asked = task.status;
  try {
    await cancelTask(run.context, task.id, { headers, signal });
  } catch (error) {
    if (findA2AError(error)?.reason !== "TASK_NOT_CANCELABLE") {
      throw error;
    }
    if (await isStillAsked(task, asked, run)) {
      throw callbackError("it could not be canceled", task, error);
    } // otherwise it has ended by itself, and its events say how
  }
}

function mayHaveMovedOn(error: unknown): boolean {
  const reason = findA2AError(error)?.reason;
  return reason === "UNSUPPORTED_OPERATION" || reason === "TASK_GENERATION_MISMATCH";
}
