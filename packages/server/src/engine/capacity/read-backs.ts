import { type Holding, ReadTurns, type SharedBudget } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";
import { taskBytes } from "../memory-weight.ts";
import { farBeyondPart, farTimes } from "./memory-turns.ts";

/** More than so many times its part counts as that. */
const maxTimes = 12;

/** How often one that keeps its place looks whether its caller still has too much. */
const lookMs = 250;

/** A durable executor that goes on with what earlier runs did. */
export interface ReadBack {
  readonly live: { readonly memory: Holding };
  /** Its grace period ends it soon: it does not wait for those that may work for hours. */
  readonly isStopping: boolean;
  /** Resolves when it has left memory. */
  readonly done: Promise<void>;
}

/**
 * Lets one durable executor of a caller at a time read what earlier runs did, and one more that is to stop: hundreds may be loaded at the same
 * moment, and each has to see what those before it have brought. Where a caller has far more than its part, one that has brought much
 * keeps its place until it leaves memory. If it is not to stop, others may have to go on before it can: then the next one is read
 * after some time, twice as much with each further part that the caller has.
 */
export class ReadBacks {
  readonly #active: SharedBudget;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #toGoOn = new ReadTurns(Number.POSITIVE_INFINITY, { maxOfOne: 1 });
  readonly #toStop = new ReadTurns(Number.POSITIVE_INFINITY, { maxOfOne: 1 });

  constructor(active: SharedBudget, clock: Pick<Clock, "schedule">) {
    this.#active = active;
    this.#clock = clock;
  }

  /**
   * Resolves when the next one may read.
   *
   * @param signal aborts when it needs no turn any more
   * @param read returns how much memory it has brought, in bytes
   * @throws ConnectError when the signal aborts before its turn; what `read` throws
   */
  run(executor: ReadBack, signal: () => AbortSignal, read: () => Promise<number>): Promise<void> {
    const { live, isStopping } = executor;
    const line = isStopping ? this.#toStop : this.#toGoOn;
    return line.run({ share: live.memory.share, signal }, async () => {
      const bytes = await read();
      if (bytes > taskBytes) await this.#keepPlace(executor);
    });
  }

  #keepPlace(executor: ReadBack): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let waitedMs = 0;
    let cancelTimer = (): void => {};
    const look = (): void => {
      const pauseMs = this.#pauseMs(executor.live.memory.share);
      if (pauseMs === 0 || (waitedMs >= pauseMs && !executor.isStopping)) {
        resolve();
      } else {
        waitedMs += lookMs;
        cancelTimer = this.#clock.schedule(lookMs, look, { background: true });
      }
    };
    look();
    void executor.done.then(() => {
      cancelTimer();
      resolve();
    });
    return promise;
  }

  /** How long the next one waits; 0: not at all. */
  #pauseMs(share: string | undefined): number {
    let pauseMs = 0;
    for (let times = farTimes; times <= maxTimes && this.#active.isExceeded(share, times); times += 1) {
      pauseMs = pauseMs === 0 ? farBeyondPart.turnMs : pauseMs * 2;
    }
    return pauseMs;
  }
}
