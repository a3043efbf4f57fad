import { AgentMistake } from "../agent-mistake.ts";
import { TurnAbort } from "../execution.ts";
import { type DurableRun, never } from "./durable-run.ts";
import type { LoggedRecord } from "./journal.ts";
import { type OperationResult, reviveError } from "./journal-codec.ts";
import type { Wait } from "./waits.ts";

/**
 * Gives a result to the executor, in the order of the log.
 *
 * @param thrown the original error, if this run has seen it
 * @param nextTurn the turn in which the executor gets it: by default the next one
 */
export async function replayResult<Result>(
  run: DurableRun,
  result: OperationResult & { readonly sequence: number },
  thrown?: unknown,
  nextTurn?: () => Promise<void>,
): Promise<Result> {
  await run.journal.order.result(result.sequence, nextTurn);
  switch (result.kind) {
    case "value":
      return result.value as Result; // what the operation gave
    case "over":
      return undefined as Result; // the executor waits only for the end
    case "error":
      throw thrown ?? reviveError(result);
    case "mistake":
      throw new AgentMistake(result.message, result.reason);
    case "aborted":
      throw run.stopped ?? new TurnAbort("canceled");
  }
}

/** Resolves when a new step, sleep or take may begin. Code may ask for thousands, so each has a turn; what earlier runs did comes first. */
export async function untilMayBegin(run: DurableRun): Promise<void> {
  const turn = run.live.output.wait(run.share);
  if (turn !== undefined) await untilOver(run, turn);
  await run.waits.keepBusy(async () => run.journal.order.caughtUp());
}

/** Waits, and holds the slot. Never resolves when the executor was cut off meanwhile. */
export async function untilOver(run: DurableRun, wait: Promise<void>): Promise<void> {
  await run.waits.keepBusy(() => wait);
  if (isCutOff(run)) await never();
}

/** Whether a shutdown or a lost task has cut the executor off: the next holder of the task begins anew what has not ended. */
export function isCutOff(run: DurableRun): boolean {
  return run.signal.aborted && run.stopped === undefined;
}

/**
 * Waits to the end. A cancel that cuts the wait off is stored, so that the next run is cut off there, too.
 *
 * @throws TurnAbort when the executor is told to stop meanwhile
 */
export async function waitUntilOver(run: DurableRun, op: string, wait: Wait): Promise<void> {
  const { live, waits, journal } = run;
  try {
    if (live.timers.setAlarm(waits.nextAt)) {
      live.note({ type: "timer-moved" });
    }
    await live.flushed();
    await wait.over;
  } catch (error) {
    if (run.stopped === undefined) {
      throw error;
    }
    const cut = journal.conclude({ op, kind: "aborted" });
    await waits.keepBusy(() => replayResult(run, cut));
  } finally {
    live.timers.setAlarm(run.wakeAt);
  }
  run.heard();
}

/**
 * Whether a repeated wait was cut off: the executor was told to stop after it asked for the wait, or, by the log, after
 * the wait began.
 *
 * @param isCleanup the executor had already been told to stop when it asked
 */
export function isCut(run: DurableRun, known: LoggedRecord | undefined, isCleanup: boolean): boolean {
  const { stopped, stoppedBefore } = run;
  const beganBefore = known !== undefined && stoppedBefore !== undefined && known.sequence < stoppedBefore;
  return stopped !== undefined && (!isCleanup || beganBefore);
}
