import { a2aError } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";

/** The same for what is not there and what is somebody else's (requirement O-4). */
export function taskNotFound(taskId: string): ConnectError {
  return a2aError("TASK_NOT_FOUND", "there is no such task", { taskId });
}
