import { invalidParams } from "@a2a-connect/core";
import type { Task } from "@a2a-connect/proto";

/**
 * The task with at most the newest `historyLength` messages of its history; all of them when it is not set
 * (requirements C-1, C-2).
 */
export function withHistoryLength(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history.length <= historyLength) {
    return task;
  }
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}

/** Refuses a negative length. */
export function assertHistoryLength(field: string, historyLength: number | undefined): void {
  if (historyLength !== undefined && historyLength < 0) {
    throw invalidParams({ field, description: `must not be negative, but is ${historyLength}` });
  }
}
