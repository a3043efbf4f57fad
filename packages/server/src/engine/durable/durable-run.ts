import type { UnusedResults } from "../../agent/unused-results.ts";
import type { Clock } from "../clock.ts";
import type { TurnAbort } from "../execution.ts";
import type { LiveTask } from "../live-task.ts";
import type { InstantTool } from "./instant-calls.ts";
import type { JournalSession } from "./journal-session.ts";
import type { Waits } from "./waits.ts";

/**
 * For what a step, a sleep or a take does after it has waited.
 *
 * @throws TurnAbort when the executor has gone since it was asked for; behind the event that ended the task a `finally` still cleans up
 */
export type AssertGoesOn = () => void;

/** One run of a durable executor, for its tools. */
export interface DurableRun {
  readonly live: LiveTask;
  /** The caller whose work it is, for turns; undefined: not known. */
  readonly share: string | undefined;
  readonly clock: Clock;
  readonly journal: JournalSession;
  readonly waits: Waits;
  /** Events, questions and steps that the executor has begun and not used. */
  readonly unused: UnusedResults;
  readonly signal: AbortSignal;
  /** Why the executor has been told to stop; undefined: it has not. */
  readonly stopped: TurnAbort | undefined;
  /** Where in the log an earlier run was told to stop; undefined: it was not. */
  readonly stoppedBefore: number | undefined;
  /** When to wake the task, for any later holder (milliseconds since 1970). */
  readonly wakeAt: number | undefined;
  /** Whether a `yield` is in progress: then other parts of the executor may be ahead of it. */
  readonly isYielding: boolean;
  /** Whether it takes no more messages or events: it was dropped, or its task has ended. */
  readonly isGone: boolean;
  /** The executor has shown that it is alive. */
  heard(): void;
  /** Resolves when the executor may yield more, or begin another step. */
  untilRoom(): Promise<void> | undefined;
  /** The executor waits for us: that is no silence. */
  pauseFor<Result>(room: Promise<Result>): Promise<Result>;
  /**
   * Does work for the executor. When the executor is dropped, or its task ends meanwhile, the promise never settles: a later run does
   * what it would have done, or there is nothing left to do.
   *
   * @throws AgentMistake when a task may have no more under way: the task has ended then
   */
  hold<Result>(work: (assertGoesOn: AssertGoesOn) => Promise<Result>): Promise<Result>;
  /**
   * Makes a call that returns at once and that no earlier run has made.
   *
   * @throws AgentMistake when there are too many without a wait; what `work` throws: the task has ended then
   */
  callInstantly<Result>(tool: InstantTool, work: () => Result): Result;
  /**
   * Ends the task because the executor differs from its earlier run.
   *
   * @param detail for the operator
   * @param event the event at which they differ; default: the first that was not repeated
   * @returns the error to throw
   */
  diverge(detail: string, event?: number): Error;
  /** The store cannot be read: drops the executor until the store can be read again. */
  abandon(error: unknown): Promise<never>;
}
