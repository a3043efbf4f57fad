import { a2aError } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";

/** The same error for a missing task and for a task of another owner (requirement O-4). */
export function taskNotFound(taskId: string): ConnectError {
  return a2aError("TASK_NOT_FOUND", "there is no such task", { taskId });
}
