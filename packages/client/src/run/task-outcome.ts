import { partText } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import { type Task, TaskState } from "@a2a-connect/proto";
import {
  AuthRequiredError,
  InputRequiredError,
  TaskCanceledError,
  type TaskError,
  TaskFailedError,
  TaskRejectedError,
} from "../errors.ts";

/** The error for a task that did not complete; undefined for every other state. */
export function taskError(task: Task): TaskError | undefined {
  switch (stateOf(task)) {
    case TaskState.FAILED:
      return new TaskFailedError(sentence("failed", task), task, {
        hint: "The reason says whether it is worth trying again.",
      });
    case TaskState.CANCELED:
      return new TaskCanceledError(sentence("was canceled", task), task);
    case TaskState.REJECTED:
      return new TaskRejectedError(sentence("was rejected", task), task, {
        hint: "It never began: once the cause is gone it is safe to send it again.",
      });
    default:
      return undefined;
  }
}

/** The error of a task that waits for a callback that is missing. */
export function unansweredError(task: Task): TaskError {
  return stateOf(task) === TaskState.AUTH_REQUIRED
    ? new AuthRequiredError(sentence("needs credentials", task), task, {
        hint: `Give the credentials where the agent says, or pass onAuthRequired. Task ${task.id} still waits.`,
      })
    : new InputRequiredError(sentence("asks", task), task, {
        hint: `Answer with a message to task ${task.id}, or pass onInputRequired.`,
      });
}

/** What happened and what the agent said about it, safe to show in a terminal. */
function sentence(what: string, { id, status }: Task): string {
  const said = status?.message === undefined ? "" : partText(status.message).trim();
  return said === "" ? `Task ${id} ${what}.` : `Task ${id} ${what}: ${said}`;
}
