import type { DurableTask, StepContext, StepOptions } from "../../agent/durable-task.ts";
import type { TurnAbort } from "../execution.ts";
import type { DurableInbox } from "./durable-inbox.ts";
import type { AssertGoesOn, DurableRun } from "./durable-run.ts";
import { isCut, replayResult, untilMayBegin, waitUntilOver } from "./durable-wait.ts";
import type { InstantTool } from "./instant-calls.ts";
import { errorParts, isLong, isResult, type OperationResult } from "./journal-codec.ts";
import { JournalError } from "./journal-error.ts";
import type { StoredResult } from "./journal-session.ts";
import { roomForStep, sliceForResult } from "./long-results.ts";
import { attemptStep, backoffMs } from "./step.ts";

/** The tools whose results the journal keeps. */
export type JournaledTools = Pick<DurableTask, "step" | "sleep" | "now" | "random" | "inbox">;

/** Waits of up to this length are timers in memory and keep their slot; longer ones are rows in the store. */
const shortWaitMs = 1_000;

type StepFunction<Result> = (context: StepContext) => Promise<Result> | Result;

/** The result of a step, for the executor. */
type StepOutcome = { readonly result: StoredResult; readonly thrown: unknown } | { readonly retryAt: number };

/** Makes the tools of one run. */
export function createJournaledTools(run: DurableRun, inbox: DurableInbox): JournaledTools {
  const beginStep: JournaledTools["step"] = (name, work, options = {}) =>
    watchStep(
      run,
      name,
      run.hold((assertGoesOn) => step(run, name, work, options, assertGoesOn)),
      beginStep,
    );
  return {
    step: beginStep,
    sleep: (ms) => run.hold((assertGoesOn) => sleep(run, ms, assertGoesOn)),
    now: () => remember(run, "now", () => run.clock.now()),
    random: () => remember(run, "random", Math.random),
    inbox: {
      take: () => run.hold((assertGoesOn) => inbox.take(run, assertGoesOn)),
      poll() {
        const sequence = remember(run, "inbox.poll", () => inbox.draw());
        return sequence === undefined ? undefined : inbox.open(run, sequence);
      },
    },
  };
}

/**
 * Notes a step until the executor's code uses its promise, or it is over. `await`, `then`, `Promise.all` and the like all read
 * the promise's `constructor`: to see that costs no turn of the microtask queue, which could change the order of results.
 */
function watchStep<Result>(
  { unused }: DurableRun,
  name: string,
  promise: Promise<Result>,
  tool: JournaledTools["step"],
): Promise<Result> {
  const sentence = `the executor ended and did not wait for its step ${JSON.stringify(name)}: write "await" before the call`;
  promise.then(
    () => unused.used(promise),
    () => {}, // an error that the executor does not see is a mistake, too
  );
  unused.add(promise, sentence, tool);
  void Object.defineProperty(promise, "constructor", {
    get() {
      unused.used(promise);
      return Promise;
    },
  });
  return promise;
}

async function step<Result>(
  run: DurableRun,
  name: string,
  work: StepFunction<Result>,
  options: StepOptions,
  assertGoesOn: AssertGoesOn,
): Promise<Result> {
  const { journal, waits } = run;
  assertName(name);
  const op = journal.next(`step ${JSON.stringify(name)}`);
  const known = journal.find(op);
  if (isResult(known)) {
    return waits.keepBusy(() => replayResult<Result>(run, known));
  }
  const isCleanup = run.stopped !== undefined;
  await untilMayBegin(run, assertGoesOn);
  let { attempts, retryAt } = known?.kind === "retry" ? known : { attempts: 0, retryAt: undefined };
  for (;;) {
    const room = roomForStep(run.share);
    if (room !== undefined) {
      await waits.keepBusy(() => run.pauseFor(room));
      assertGoesOn();
    }
    if (isCut(run, known, isCleanup)) {
      const cut = journal.conclude({ op, kind: "aborted" });
      return waits.keepBusy(() => replayResult<Result>(run, cut));
    }
    if (retryAt !== undefined) {
      await waitUntil(run, op, retryAt, assertGoesOn);
    }
    const outcome = await waits.keepBusy(async () => {
      const attempted = await attempt(run, op, work, { ...options, attempt: ++attempts, isCleanup });
      if ("result" in attempted) {
        return { value: await replayResult<Result>(run, attempted.result, attempted.thrown) };
      }
      return attempted;
    });
    if ("value" in outcome) {
      return outcome.value;
    }
    retryAt = outcome.retryAt;
  }
}

/** The journal finds steps by their names, which may be of callers' texts: longer ones could be slow to find (`longNameWeight`). */
const maxNameLength = 2_048;

/** @throws JournalError for a name that is too long */
function assertName(name: string): void {
  if (name.length > maxNameLength) {
    const shown = JSON.stringify(`${name.slice(0, 40)}…`);
    throw new JournalError(
      `the name of step ${shown} has ${name.length} characters; at most ${maxNameLength} are taken`,
    );
  }
}

/** One attempt at a step, and its record in the journal. */
async function attempt<Result>(
  run: DurableRun,
  op: string,
  work: StepFunction<Result>,
  options: StepOptions & { readonly attempt: number; readonly isCleanup: boolean },
): Promise<StepOutcome> {
  const { journal, live, clock } = run;
  // A step that began after the task was told to stop is for cleaning up: it is not told to stop again.
  const signal = options.isCleanup ? new AbortController().signal : run.signal;
  let outcome: StepOutcome;
  const began = clock.now();
  const tookMs = (): number => clock.now() - began;
  try {
    const value = await attemptStep(work, options.attempt, options, signal, clock);
    const valueTookMs = tookMs();
    if (isLong(value)) await sliceForResult(run.share);
    outcome = storeResult(run, { op, kind: "value", value }, valueTookMs, undefined);
  } catch (thrown) {
    if (run.isGone) throw thrown; // the next holder of the task begins the step anew
    const mayRetry = options.isCleanup || run.stopped === undefined;
    if (mayRetry && options.attempt <= (options.retries ?? 0)) {
      const retryAt = clock.now() + backoffMs(options.backoff, options.attempt);
      journal.note({ op, kind: "retry", attempts: options.attempt, retryAt }, tookMs());
      outcome = { retryAt };
    } else {
      outcome = storeResult(run, toErrorResult(op, thrown, run.stopped), tookMs(), thrown);
    }
  }
  run.heard();
  await live.flushed();
  const room = run.untilRoom(); // hundreds of steps may end at the same moment
  if (room !== undefined) await room;
  return outcome;
}

/** A value or an error that cannot be stored is also a result: the step has run, and does not run again. */
function storeResult(
  run: DurableRun,
  result: OperationResult,
  tookMs: number,
  original: unknown,
): StepOutcome {
  try {
    return { result: run.journal.tryConclude(result, tookMs), thrown: original };
  } catch (thrown) {
    if (!(thrown instanceof JournalError)) {
      throw thrown;
    }
    const { op } = result;
    return {
      result: run.journal.conclude({ op, kind: "error", name: thrown.name, message: thrown.message }, tookMs),
      thrown,
    };
  }
}

function toErrorResult(op: string, thrown: unknown, stopped: TurnAbort | undefined): OperationResult {
  if (stopped !== undefined && thrown === stopped) {
    return { op, kind: "aborted" };
  }
  return thrown instanceof Error
    ? { op, kind: "error", ...errorParts(thrown) }
    : { op, kind: "error", name: "Error", message: describe(thrown) };
}

function describe(thrown: unknown): string {
  return typeof thrown === "object" ? "a value that is not an Error was thrown" : String(thrown);
}

async function sleep(run: DurableRun, ms: number, assertGoesOn: AssertGoesOn): Promise<void> {
  if (!Number.isFinite(ms)) {
    throw new RangeError(`a sleep takes a number of milliseconds, not ${ms}`);
  }
  const { journal, waits, clock } = run;
  const op = journal.next("sleep");
  const known = journal.find(op);
  if (isResult(known)) {
    return waits.keepBusy(() => replayResult(run, known));
  }
  const isCleanup = run.stopped !== undefined;
  await untilMayBegin(run, assertGoesOn);
  const until = known?.kind === "sleep" ? known.until : clock.now() + Math.ceil(Math.max(0, ms));
  if (isCut(run, known, isCleanup)) {
    const cut = journal.conclude({ op, kind: "aborted" });
    return waits.keepBusy(() => replayResult(run, cut));
  }
  if (known === undefined) {
    journal.note({ op, kind: "sleep", until });
  }
  await waitUntil(run, op, until, assertGoesOn);
  const over = journal.conclude({ op, kind: "over" });
  await waits.keepBusy(() => replayResult(run, over));
}

async function waitUntil(
  run: DurableRun,
  op: string,
  until: number,
  assertGoesOn: AssertGoesOn,
): Promise<void> {
  const { waits, clock } = run;
  const leftMs = until - clock.now();
  if (leftMs > shortWaitMs) {
    await waitUntilOver(run, op, waits.begin(until), assertGoesOn);
  } else if (leftMs > 0) {
    const wait = waits.begin();
    const stopTimer = clock.schedule(leftMs, wait.end);
    await waits.keepBusy(() => waitUntilOver(run, op, wait, assertGoesOn)).finally(stopTimer);
  } else {
    await waits.keepBusy(() => run.live.flushed()); // nothing would wake it
  }
}

/**
 * A value that is the same in every run.
 *
 * @throws AgentMistake when the executor has asked for too many without a wait, JournalError when the journal is full: the task has ended then
 */
function remember<Value>(run: DurableRun, name: InstantTool, make: () => Value): Value {
  const { journal } = run;
  const op = journal.next(name);
  const known = journal.find(op);
  if (known?.kind === "remembered") {
    return known.value as Value; // the value that `make` returned then
  }
  // The log has nothing that the earlier run began later than this, if this is not in the log. What is there must have been asked for.
  const isNext = journal.unclaimed === undefined && journal.order.hasRepeatedEvents;
  if (!isNext && !run.isYielding) throw run.diverge(`${op} is not in the journal`);
  return run.callInstantly(name, () => {
    const value = make();
    journal.remember(op, value);
    return value;
  });
}
