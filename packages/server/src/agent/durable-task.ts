import type { Message } from "@a2a-connect/proto";
import type { Answer, AuthRequest, Question } from "./question.ts";
import type { DurableEvent } from "./task-event.ts";
import type { ExecutorInput } from "./task-tools.ts";

/** How to retry a failed step. */
export interface StepOptions {
  /** Further attempts after the first has failed; they are counted across restarts. Default 0. */
  readonly retries?: number;
  /** Time limit of one attempt; then its signal aborts and the attempt has failed. Default: no limit. */
  readonly timeoutMs?: number;
  readonly backoff?: Backoff;
}

/** How long to wait before the next attempt. A wait survives a restart like a `sleep`. */
export interface Backoff {
  /** Before the first retry. Default 1,000. */
  readonly initialMs?: number;
  /** The factor from each wait to the next. Default 2. */
  readonly factor?: number;
  /** Default 60,000. */
  readonly maxMs?: number;
}

/** The argument of a step's function. */
export interface StepContext {
  /** Aborts when the attempt takes too long, and whenever `task.signal` aborts. */
  readonly signal: AbortSignal;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** Messages that arrived while the executor was at work (`whileWorking: "queue"`), oldest first. */
export interface Inbox {
  /** The next message; waits for it without a limit. @throws TurnAbort when the task is canceled meanwhile */
  take(): Promise<Message>;
  /** The next message, if it has arrived already. For how often without a wait, see `DurableTask.now`. */
  poll(): Message | undefined;
}

/**
 * One task from its first message to its end, and the tools to work on it. Yield what the event tools return, `await`
 * the others, `yield*` questions.
 *
 * The server may drop the executor and run it again from the top at any time: after a crash, and after a long wait. Put
 * work that must not be done twice into a `step`. The journal keeps values that would differ in the next run (`now`,
 * `random`). Events of an earlier run are recognised and not sent again. So the executor must hold no resource open
 * over a wait, and decide only on the results of these tools.
 *
 * It may do several things at a time (`Promise.all`, a pool, a race): the tools return their results in the same order
 * in every run, one at a time. That holds as long as each part waits for these tools alone; put all other slow work
 * into a step. An executor that waits for something else beside an open `sleep` or `inbox.take` may be dropped
 * meanwhile.
 */
export interface DurableTask extends ExecutorInput {
  /**
   * Aborts on cancel, deadline, silence for too long or shutdown; `reason` is an Error that says which. After a cancel
   * a pending `sleep`, `inbox.take` or step rejects with it; new ones may be used to clean up.
   */
  readonly signal: AbortSignal;
  /**
   * Runs `run` and stores its result before returning it: work with a stored result is never done twice. Until then a
   * crash repeats it, so it should be safe to repeat.
   *
   * `run` must not use the other tools of the task: it does not run again, and they count their uses.
   *
   * The result is any value that can be cloned (`structuredClone`, or a protobuf message of a known type). Steps may
   * run at the same time, but the task is FAILED when 8,192 of them (`limits.maxTaskBytes` / 8 KiB), sleeps and takes are under
   * way. One name may be used several times; its uses are counted.
   *
   * @param name up to 2,048 characters
   * @throws the error of the last attempt; after a restart an Error of the same name and message
   * @throws JournalError when the name is too long, or the result cannot be stored or is too large (`limits.maxStepBytes`)
   */
  step<Result>(
    name: string,
    run: (context: StepContext) => Promise<Result> | Result,
    options?: StepOptions,
  ): Promise<Result>;
  /**
   * INPUT_REQUIRED, until the caller has answered; asks again when an answer does not fit. Use: `const answer = yield*
   * task.ask("…")`.
   */
  ask(question: string | Question): AsyncGenerator<DurableEvent, Answer>;
  /**
   * AUTH_REQUIRED, until the operator's program grants what is asked for (`AgentServer.grant`), or the caller sends a
   * message (spec §7.6). Use it like `ask`. Only the answer's `grant` says that something was granted.
   */
  askForAuth(request: string | AuthRequest): AsyncGenerator<DurableEvent, Answer>;
  /** Waits, also across restarts. @throws TurnAbort when the task is canceled meanwhile */
  sleep(ms: number): Promise<void>;
  /**
   * The time in milliseconds since 1970: the same when the executor runs again.
   *
   * The task is FAILED when its code calls `now`, `random` and `inbox.poll` more than 50,000 times without a wait, not counting what an
   * earlier run has called: before a loop over a long list, read the time once, and draw its numbers in a `step`.
   *
   * @throws JournalError when the journal is full: after some 270,000 calls (`limits.maxTaskBytes`). The task is FAILED then, also when
   * its code catches the error
   */
  now(): number;
  /** A number from 0 up to 1: the same when the executor runs again. Not for secrets. For how often, see `now`. */
  random(): number;
  readonly inbox: Inbox;
}
