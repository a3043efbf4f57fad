import { type Holding, ReadTurns, type SharedBudget } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";
import { taskBytes } from "../memory-weight.ts";
import { farBeyondPart, farTimes } from "./memory-turns.ts";

/** More than so many times its part counts as that. */
const maxTimes = 12;

/** How often one that keeps its place looks whether its caller still has too much. */
const lookMs = 250;

/** How long a store may be silent while other agents wait. */
export const maxSilenceMs = 10_000;

/** A durable executor that goes on with what earlier runs did. */
export interface ReadBack {
  readonly live: { readonly memory: Holding };
  /** Its grace period ends it soon: it does not wait for those that may work for hours. */
  readonly isStopping: boolean;
  /** Resolves when it has left memory. */
  readonly done: Promise<void>;
}

/** One durable executor of each caller at a time, and one more that is to stop. */
export class ReadBackLines {
  readonly toGoOn: ReadTurns = new ReadTurns(Number.POSITIVE_INFINITY, { maxOfOne: 1 });
  readonly toStop: ReadTurns = new ReadTurns(Number.POSITIVE_INFINITY, { maxOfOne: 1 });
}

/**
 * Lets one durable executor of a caller at a time read what earlier runs did, and one more that is to stop: hundreds may be loaded at the same
 * moment, and each has to see what those before it have brought. Where a caller has far more than its part, one that has brought much
 * keeps its place until it leaves memory. Others may have to go on before it can: the next one is read after some time, twice as much with
 * each further part that the caller has.
 *
 * Agents share these lines, and each has lines of its own before them. An agent whose store is silent for 10 s loses its place in the
 * shared line, and keeps none there until the store answers: a store that hangs holds up the other agents once. It keeps its place in its
 * own line, and so reads one journal of this caller until then. Stores that are slow let no more of a caller into memory, as long as they
 * answer within 10 s each time; of n agents with slower ones, n journals may be read at a time, in place of one.
 */
export class ReadBacks {
  readonly #active: SharedBudget;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #own = new ReadBackLines();
  readonly #shared: ReadBackLines;
  /** Whether its store was silent for so long, and has not answered since. */
  #isSilent = false;

  /** @param shared by agents whose tasks count in `active` */
  constructor(active: SharedBudget, clock: Pick<Clock, "schedule">, shared: ReadBackLines) {
    this.#active = active;
    this.#clock = clock;
    this.#shared = shared;
  }

  /**
   * Resolves when the next one may read.
   *
   * @param signal aborts when it needs no turn any more
   * @param read calls `heard` when it begins to ask the store, and with each answer; returns how much memory it has brought, in bytes
   * @throws ConnectError when the signal aborts before its turn; what `read` throws
   */
  run(
    executor: ReadBack,
    signal: () => AbortSignal,
    read: (heard: () => void) => Promise<number>,
  ): Promise<void> {
    const line = executor.isStopping ? "toStop" : "toGoOn";
    const reader = { share: executor.live.memory.share, signal };
    return this.#own[line].run(reader, () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      void executor.done.then(resolve); // it may end before the store has answered
      const inTurn = () => {
        const silence = this.#watchSilence();
        this.#read(executor, () => read(silence.heard).finally(silence.stop)).then(resolve, reject);
        return this.#isSilent ? Promise.resolve() : Promise.race([promise, silence.isLong]);
      };
      this.#shared[line].run(reader, inTurn).catch(reject);
      return promise;
    });
  }

  #watchSilence() {
    const { promise, resolve } = Promise.withResolvers<void>();
    let cancelTimer: (() => void) | undefined;
    /** What was asked is answered. */
    const stop = (): void => {
      if (cancelTimer === undefined) return;
      cancelTimer();
      this.#isSilent = false;
    };
    const heard = (): void => {
      stop();
      cancelTimer = this.#clock.schedule(maxSilenceMs, isLong, { background: true });
    };
    const isLong = (): void => {
      this.#isSilent = true;
      resolve();
    };
    return { heard, stop, isLong: promise };
  }

  async #read(executor: ReadBack, read: () => Promise<number>): Promise<void> {
    const bytes = await read();
    if (bytes > taskBytes) await this.#keepPlace(executor);
  }

  #keepPlace(executor: ReadBack): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let waitedMs = 0;
    let cancelTimer = (): void => {};
    const look = (): void => {
      const pauseMs = this.#pauseMs(executor.live.memory.share);
      if (waitedMs >= pauseMs) {
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
