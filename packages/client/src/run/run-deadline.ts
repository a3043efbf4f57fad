import type { LinkedAbort } from "@a2a-connect/core/internal";
import type { ClientClock } from "../clock.ts";
import { RunTimeoutError } from "../errors.ts";
import type { TaskTracker } from "../follow/task-tracker.ts";

/** The latest time that there is (ECMA-262, time values). */
const endOfTime = 8.64e15;

/** When a run that begins now must have ended; undefined when there is no such time. */
export function deadlineAt(deadlineMs: number | undefined, clock: ClientClock): Date | undefined {
  return deadlineMs === undefined || clock.now() + deadlineMs > endOfTime
    ? undefined
    : new Date(clock.now() + deadlineMs);
}

/**
 * Aborts `ended` with a RunTimeoutError `deadlineMs` after the run began, unless it was aborted before; never when that
 * is undefined.
 *
 * @param beganMs the time from which the agent's deadline counts, too: the agent would otherwise cancel the task first
 */
export function startDeadline(
  deadlineMs: number | undefined,
  beganMs: number,
  clock: ClientClock,
  tracker: TaskTracker,
  ended: LinkedAbort,
): void {
  if (deadlineMs !== undefined) {
    clock.sleep(Math.max(0, beganMs + deadlineMs - clock.now()), ended.signal).then(
      () => ended.abort(timeoutError(deadlineMs, tracker)),
      () => {}, // the run has ended
    );
  }
}

function timeoutError(deadlineMs: number, { task, taskId }: TaskTracker): RunTimeoutError {
  return new RunTimeoutError(`The run took longer than ${deadlineMs} ms.`, taskId, task, {
    hint:
      taskId === undefined ? "Nothing is known of a task." : `Task ${taskId} may go on: follow or cancel it.`,
  });
}
