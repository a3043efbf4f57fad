import { AgentMistake } from "../agent-mistake.ts";
import { TurnAbort } from "../execution.ts";
import type { AssertGoesOn, DurableRun } from "./durable-run.ts";
import type { LoggedRecord } from "./journal.ts";
import { reviveError } from "./journal-codec.ts";
import type { StoredResult } from "./journal-session.ts";
import type { Wait } from "./waits.ts";

/**
 * Gives a result to the executor, in the order of the log.
 *
 * @param thrown the original error, if this run has seen it
 * @param nextTurn the turn in which the executor gets it: by default the next one
 */
export async function replayResult<Result>(
  run: DurableRun,
  result: StoredResult,
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
export async function untilMayBegin(run: DurableRun, assertGoesOn: AssertGoesOn): Promise<void> {
  await untilTurn(run);
  await run.waits.keepBusy(async () => run.journal.order.caughtUp());
  assertGoesOn();
}

/** Waits for a turn in which the executor may put out more, and holds the slot. */
async function untilTurn(run: DurableRun): Promise<void> {
  const turn = run.untilRoom();
  if (turn !== undefined) await run.waits.keepBusy(() => turn);
}

/**
 * Waits to the end. A cancel that cuts the wait off is stored, so that the next run is cut off there, too.
 *
 * @throws TurnAbort when the executor is told to stop meanwhile
 */
export async function waitUntilOver(
  run: DurableRun,
  op: string,
  wait: Wait,
  assertGoesOn: AssertGoesOn,
): Promise<void> {
  const { live, waits, journal } = run;
  try {
    if (live.timers.wakeBy(waits.nextAt)) {
      live.note({ type: "timer-moved" });
    }
    await live.flushed();
    await wait.over;
    assertGoesOn();
  } catch (error) {
    if (run.isGone || run.stopped === undefined) {
      throw error;
    }
    await untilTurn(run); // a stop cuts all waits off at the same moment
    assertGoesOn();
    const cut = journal.conclude({ op, kind: "aborted" });
    await waits.keepBusy(() => replayResult(run, cut));
  } finally {
    if (!run.isGone) live.timers.setAlarm(run.wakeAt);
  }
  run.heard();
  await untilTurn(run); // thousands of waits may end at the same moment
  assertGoesOn();
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
