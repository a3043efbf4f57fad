import { withinTime } from "@a2a-connect/core/internal";
import type { Backoff, StepContext, StepOptions } from "../../agent/durable-task.ts";
import type { Clock } from "../clock.ts";

/** How long to wait after this many failed attempts. */
export function backoffMs(
  { initialMs = 1_000, factor = 2, maxMs = 60_000 }: Backoff = {},
  attempts: number,
): number {
  return Math.min(maxMs, initialMs * factor ** (attempts - 1));
}

/**
 * One attempt at a step. When it takes too long, it rejects and its signal aborts.
 *
 * @param signal aborts with the task
 */
export async function attemptStep<Result>(
  run: (context: StepContext) => Promise<Result> | Result,
  attempt: number,
  { timeoutMs }: StepOptions,
  signal: AbortSignal,
  clock: Pick<Clock, "schedule">,
): Promise<Result> {
  if (timeoutMs === undefined) {
    return run({ signal, attempt });
  }
  const late = new DOMException(`the step took longer than ${timeoutMs} ms`, "TimeoutError");
  const work = async (limit: AbortSignal) => run({ signal: AbortSignal.any([signal, limit]), attempt });
  return withinTime(timeoutMs, late, work, { timer: clock.schedule });
}
