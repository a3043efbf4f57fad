import type { EngineContext } from "./engine-context.ts";
import { findWakes } from "./wakes.ts";

/** How long a finished task is kept by default: 7 days. */
export const defaultRetentionMs = 604_800_000;

/** How often it asks the store. */
const intervalMs = 60_000;

/** The shortest interval, for tasks that are kept for less time. */
const minIntervalMs = 1_000;

/** Rows removed in a turn of the event loop, at most. */
const batchRows = 500;

/**
 * How long that may take: not long enough to block the event loop noticeably (docs/limits.md). Where turns are long it may take a part of
 * one: as much ends in such a turn, and a sweep must not be slower than the tasks that come.
 */
const [minBatchMs, maxBatchMs, turnPart] = [5, 20, 1 / 4];

/** What retention uses. */
export interface RetentionContext extends Pick<EngineContext, "store" | "clock" | "log"> {
  /** Called after each sweep that removed all tasks that ended before `before`, so that they leave memory, too. */
  readonly forget: (before: number) => void;
}

/**
 * Removes expired data: finished tasks with everything that belongs to them, and kept direct Messages. It does so when
 * it is started and then every minute, in small batches, of which the agents of a process do one in a turn of the event loop; other calls
 * run between two.
 */
export class Retention {
  readonly #context: RetentionContext;
  readonly #keepMs: number | undefined;
  #cancelAlarm: () => void = () => {};
  #sweeping: Promise<void> | undefined;
  #closed = false;

  /**
   * @param keepMs how long finished tasks are kept; `false`: for ever
   * @throws Error when that is not a valid length of time
   */
  constructor(context: RetentionContext, keepMs: number | false) {
    if (keepMs !== false && !(keepMs >= 0)) {
      throw new Error(`retentionMs is a number of milliseconds or false, not ${keepMs}`);
    }
    this.#context = context;
    this.#keepMs = keepMs === false ? undefined : keepMs;
  }

  /** Begins the first sweep without waiting for it. */
  start(): void {
    this.#again(0);
  }

  /** No batch begins after this. Resolves when the current batch is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelAlarm();
    await this.#sweeping;
  }

  #again(delayMs: number): void {
    this.#cancelAlarm = this.#context.clock.schedule(
      delayMs,
      () => {
        this.#sweeping = this.#sweep();
      },
      { background: true },
    );
  }

  /** Removes everything that is due now. A sweep that fails is repeated at the next time. */
  async #sweep(): Promise<void> {
    const { store, clock, log, forget } = this.#context;
    const now = clock.now();
    const finishedBefore = this.#keepMs === undefined ? undefined : now - this.#keepMs;
    try {
      for (let turnMs = 0; ; ) {
        await findWakes(clock).sweeps.turn(undefined); // agents of a host may have as much to remove at the same time
        if (this.#closed) break;
        const beganAt = clock.ticks();
        const maxMs = Math.min(maxBatchMs, Math.max(minBatchMs, turnMs * turnPart));
        if (!(await store.expire({ finishedBefore, now, limit: batchRows, maxMs }))) break;
        turnMs = clock.ticks() - beganAt;
      }
      if (finishedBefore !== undefined && !this.#closed) {
        forget(finishedBefore);
      }
    } catch (error) {
      log({ level: "error", message: "expired data could not be removed; trying again", error });
    }
    if (!this.#closed) {
      this.#again(Math.min(intervalMs, Math.max(minIntervalMs, this.#keepMs ?? intervalMs)));
    }
  }
}
