import type { Task } from "@a2a-connect/proto";
import { InvalidResponseError } from "../errors.ts";

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
