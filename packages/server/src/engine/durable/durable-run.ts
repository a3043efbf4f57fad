import type { Clock } from "../clock.ts";
import type { LiveTask } from "../live-task.ts";
import type { TurnAbort } from "../turn-abort.ts";
import type { JournalSession } from "./journal-session.ts";
import type { Waits } from "./waits.ts";

/** One run of a durable executor, as its tools see it. */
export interface DurableRun {
  readonly live: LiveTask;
  readonly clock: Clock;
  readonly journal: JournalSession;
  readonly waits: Waits;
  readonly signal: AbortSignal;
  /** Why the executor has been told to stop; undefined: it has not. */
  readonly stopped: TurnAbort | undefined;
  /** Where in the log an earlier run was told to stop; undefined: none was. */
  readonly stoppedBefore: number | undefined;
  /** When the task is to be woken, by whoever holds it then (milliseconds since 1970). */
  readonly wakeAt: number | undefined;
  /** Whether a `yield` is under way: other parts of the executor may be ahead of it. */
  readonly isYielding: boolean;
  /** The executor has given a sign of life. */
  heard(): void;
  /**
   * Does something for the executor. Nothing comes back to one that was dropped: it is held where it is, and whoever
   * runs it next does what it would have done.
   */
  hold<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Ends the task because the executor does something else than it did.
   *
   * @param detail for the operator
   * @param event where they part; default: at the first that was not repeated
   * @returns what to throw
   */
  diverge(detail: string, event?: number): Error;
  /** The store cannot be read: drops the executor until it can. */
  abandon(error: unknown): Promise<never>;
}

/** What a dropped executor waits for. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
