import { stateOf, untilAborted } from "@a2a-connect/core/internal";
import { type Task, TaskState } from "@a2a-connect/proto";
import { CallbackError } from "../errors.ts";

/** What a callback did wrong, and how to continue the task. */
export function callbackError(what: string, task: Task, cause?: unknown): CallbackError {
  const detail = cause instanceof Error ? `: ${cause.message}` : "";
  const waits = stateOf(task) === TaskState.INPUT_REQUIRED ? "It still waits for an answer" : "It goes on";
  return new CallbackError(`Task ${task.id}: ${what}${detail}`, task, {
    hint: `${waits}: follow or answer task ${task.id}.`,
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * Calls a callback and waits for it, as long as the run lasts.
 *
 * @param name of the callback, for the error
 * @throws CallbackError when it throws; the signal's reason when that comes first
 */
export async function callBack<T>(
  name: string,
  call: () => T | PromiseLike<T>,
  task: Task,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await untilAborted(call(), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw callbackError(`${name} threw`, task, error);
  }
}
