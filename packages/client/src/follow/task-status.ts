import { isInterrupted } from "@a2a-connect/core";
import { isSame } from "@a2a-connect/core/internal";
import type { Task, TaskStatus } from "@a2a-connect/proto";
import { InvalidResponseError } from "../errors.ts";

/** Whether a task still asks the same question. Some servers leave the message out of GetTask. */
export function isSameQuestion(asked: TaskStatus | undefined, current: TaskStatus): boolean {
  const [before, now] = [asked?.message?.messageId ?? "", current.message?.messageId ?? ""];
  return asked?.state === current.state && (before === "" || now === "" || before === now);
}

/** Whether two statuses are the same. Some servers set a new timestamp each time. */
export function isSameStatus(one: TaskStatus | undefined, other: TaskStatus | undefined): boolean {
  if (one === undefined || other === undefined) {
    return one === other;
  }
  if (one.state !== other.state || one.message?.messageId !== other.message?.messageId) {
    return false;
  }
  // Two questions without a message differ by their timestamps alone.
  const tellsApart = one.message === undefined && isInterrupted(one.state);
  return !tellsApart || isSame(one, other);
}

/**
 * The requested task.
 *
 * @throws InvalidResponseError when a server answers with another task, or with an invalid one
 */
export function checkTask(task: Task, taskId: string): Task {
  if (task.id !== taskId || task.status === undefined) {
    const got = task.id === "" ? "something that is no task" : "another task or one without a status";
    throw new InvalidResponseError(`The agent was asked for task ${taskId} and answered with ${got}.`, {
      hint: "The server does not follow the A2A protocol, or is newer than this client.",
    });
  }
  return task;
}
