import type { Message } from "@a2a-connect/proto";
import type { Answer, Question } from "./question.ts";
import type { DurableEvent } from "./task-event.ts";
import type { ExecutorInput } from "./task-tools.ts";

/** How a failed step is tried again. */
export interface StepOptions {
  /** Further attempts after the first has failed; they are counted over restarts. Default 0. */
  readonly retries?: number;
  /** How long one attempt may take; then its signal aborts and it has failed. Default: no limit. */
  readonly timeoutMs?: number;
  readonly backoff?: Backoff;
}

/** How long to wait before the next attempt. A wait survives a restart like a `sleep`. */
export interface Backoff {
  /** Before the first retry. Default 1,000. */
  readonly initialMs?: number;
  /** What each wait is multiplied with for the next. Default 2. */
  readonly factor?: number;
  /** Default 60,000. */
  readonly maxMs?: number;
}

/** What a step's function is given. */
export interface StepContext {
  /** Aborts when the attempt takes too long, and on everything that `task.signal` aborts on. */
  readonly signal: AbortSignal;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** Messages that arrived while the executor was at work (`whileWorking: "queue"`), oldest first. */
export interface Inbox {
  /** The next message; waits for it, as long as it takes. @throws TurnAbort when the task is canceled meanwhile */
  take(): Promise<Message>;
  /** The next message, if one is there already. */
  poll(): Message | undefined;
}

/**
 * One task from its first message to its end, and the tools to work on it. Yield what the event tools return, `await`
 * the others, `yield*` questions.
 *
 * The executor may be dropped and run again from the top at any time: after a crash, and after a long wait. What it must
 * not do twice goes through `step`; what would differ the second time (`now`, `random`) is remembered; what it has
 * yielded before is recognised and not repeated. So it holds nothing open over a wait, and decides only on what these
 * tools gave it.
 *
 * It may do several things at a time (`Promise.all`, a pool, a race): what the tools give comes in the same order in every
 * run, one result at a time. That holds as long as each part waits for these tools alone; whatever else takes time
 * belongs into a step. An executor that waits for something else while a `sleep` or `inbox.take` is open, too, may be
 * dropped meanwhile.
 */
export interface DurableTask extends ExecutorInput {
  /**
   * Aborts on cancel, deadline, silence for too long or shutdown; `reason` is an Error that says which. After a cancel a
   * pending `sleep`, `inbox.take` or step rejects with it; new ones may be used to clean up.
   */
  readonly signal: AbortSignal;
  /**
   * Runs `run` and stores what it returns before returning it: a result that was stored is never paid for twice. Until
   * then a crash repeats it, so what it does should be safe to repeat.
   *
   * `run` works with what it needs and leaves the other tools of the task alone: it is not run again, and they count
   * their uses.
   *
   * The result is anything that can be cloned (`structuredClone`, or a protobuf message of a known type). Steps may run
   * at the same time; one name may be used again and again, and is counted.
   *
   * @throws what the last attempt threw; after a restart an Error of the same name and message
   * @throws JournalError when the result cannot be stored or is too large (`limits.maxStepBytes`)
   */
  step<Result>(
    name: string,
    run: (context: StepContext) => Promise<Result> | Result,
    options?: StepOptions,
  ): Promise<Result>;
  /**
   * INPUT_REQUIRED, until the caller has answered; asks again when an answer does not fit.
   * Use: `const answer = yield* task.ask("…")`.
   */
  ask(question: string | Question): AsyncGenerator<DurableEvent, Answer>;
  /** AUTH_REQUIRED, until the caller says that it is done (spec §7.6). Use it like `ask`. */
  askForAuth(explanation: string | Question): AsyncGenerator<DurableEvent, Answer>;
  /** Waits, also over restarts. @throws TurnAbort when the task is canceled meanwhile */
  sleep(ms: number): Promise<void>;
  /** The time in milliseconds since 1970: the same when the executor runs again. */
  now(): number;
  /** A number from 0 up to 1: the same when the executor runs again. Not for secrets. */
  random(): number;
  readonly inbox: Inbox;
}
