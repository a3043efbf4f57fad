import type { ClientClock } from "../clock.ts";
import { RunTimeoutError } from "../errors.ts";
import type { TaskTracker } from "../follow/task-tracker.ts";

/** The deadline of a run. */
export interface RunDeadline {
  /** The time that the agent is told. */
  readonly at: Date | undefined;
  stop(): void;
}

/** The latest time that there is (ECMA-262, time values). */
const endOfTime = 8.64e15;

/**
 * Aborts `ended` with a RunTimeoutError after `deadlineMs`; never when that is undefined or exceeds the latest time.
 */
export function startDeadline(
  deadlineMs: number | undefined,
  clock: ClientClock,
  tracker: TaskTracker,
  ended: AbortController,
): RunDeadline {
  if (deadlineMs === undefined || clock.now() + deadlineMs > endOfTime) {
    return { at: undefined, stop: () => {} };
  }
  const stopped = new AbortController();
  clock.sleep(deadlineMs, stopped.signal).then(
    () => ended.abort(timeoutError(deadlineMs, tracker)),
    () => {}, // stopped
  );
  return { at: new Date(clock.now() + deadlineMs), stop: () => stopped.abort() };
}

function timeoutError(deadlineMs: number, { task, taskId }: TaskTracker): RunTimeoutError {
  return new RunTimeoutError(`The run took longer than ${deadlineMs} ms.`, taskId, task, {
    hint:
      taskId === undefined ? "Nothing is known of a task." : `Task ${taskId} may go on: follow or cancel it.`,
  });
}
