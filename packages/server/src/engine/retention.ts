import type { EngineContext } from "./engine-context.ts";

/** How long a finished task is kept when nothing else is said: 7 days. */
export const defaultRetentionMs = 604_800_000;

/** How long between two looks at the store. */
const intervalMs = 60_000;

/** The least of that, for tasks that are kept shorter. */
const minIntervalMs = 1_000;

/** Rows removed at a time: few enough that the event loop hardly notices (docs/limits.md). */
const batchRows = 500;

/** What retention works with. */
export interface RetentionContext extends Pick<EngineContext, "store" | "clock" | "log"> {
  /** Told after each sweep that removed everything finished before `before`, so that it goes from memory, too. */
  readonly forget: (before: number) => void;
}

/**
 * Forgets what has been kept long enough: finished tasks with all that belongs to them, and kept direct Messages. It looks
 * when it is started and then every minute, and works in small batches; between two of them everybody else has a turn.
 */
export class Retention {
  readonly #context: RetentionContext;
  readonly #keepMs: number | undefined;
  #cancelAlarm: () => void = () => {};
  #sweeping: Promise<void> | undefined;
  #closed = false;

  /**
   * @param keepMs how long finished tasks are kept; `false`: for ever
   * @throws Error when that is no length of time
   */
  constructor(context: RetentionContext, keepMs: number | false) {
    if (keepMs !== false && !(keepMs >= 0)) {
      throw new Error(`retentionMs is a number of milliseconds or false, not ${keepMs}`);
    }
    this.#context = context;
    this.#keepMs = keepMs === false ? undefined : keepMs;
  }

  /** Begins the first sweep, which nobody has to wait for. */
  start(): void {
    this.#again(0);
  }

  /** No batch begins after this. Resolves when the one under way is done. */
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

  /** Removes everything that is due now. A sweep that fails is tried again at the next look. */
  async #sweep(): Promise<void> {
    const { store, clock, log, forget } = this.#context;
    const now = clock.now();
    const finishedBefore = this.#keepMs === undefined ? undefined : now - this.#keepMs;
    try {
      while (!this.#closed && (await store.expire({ finishedBefore, now, limit: batchRows }))) {
        await clock.nextTurn();
      }
      if (finishedBefore !== undefined && !this.#closed) {
        forget(finishedBefore);
      }
    } catch (error) {
      log({ level: "error", message: "what has expired could not be removed; trying again", error });
    }
    if (!this.#closed) {
      this.#again(Math.min(intervalMs, Math.max(minIntervalMs, this.#keepMs ?? intervalMs)));
    }
  }
}
