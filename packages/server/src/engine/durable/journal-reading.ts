import { maxSilenceMs, type ReadBack } from "../capacity/read-backs.ts";
import type { EngineContext } from "../engine-context.ts";
import type { LiveTask } from "../live-task.ts";
import { weighDetails } from "../memory-weight.ts";
import { type Journal, readJournal } from "./journal.ts";

/** A durable executor that goes on with what earlier runs did. */
interface Executor extends ReadBack {
  readonly live: LiveTask;
  /** See `Runnable`. */
  readonly share: string | undefined;
  /** Whether it needs its journal no more. */
  readonly isGone: boolean;
}

/**
 * The reading of one executor's journal, in its turn. The grace period of one that is to stop begins when that is over, but work that
 * lasts may have all places of its caller, or the store may hang: it waits for its place for as long as its grace period, and for
 * each answer of the store as long, but at least 10 s.
 */
export class JournalReading {
  readonly #context: EngineContext;
  readonly #executor: Executor;
  readonly #graceMs: number;
  readonly #onLate: () => void;
  readonly #hasRead = Promise.withResolvers<boolean>();
  /** Aborts when it leaves its line. */
  #leave = new AbortController();
  /** While the store is read: it has answered. */
  #onHeard: (() => void) | undefined;
  #cancelTimer: () => void = () => {};
  #bytes = 0;

  /** @param onLate called when one that is to stop has waited for too long */
  constructor(context: EngineContext, executor: Executor, graceMs: number, onLate: () => void) {
    this.#context = context;
    this.#executor = executor;
    this.#graceMs = graceMs;
    this.#onLate = onLate;
  }

  /** Resolves when the next one of its caller that is to stop may be read back; to false when this one has waited for too long. */
  get hasRead(): Promise<boolean> {
    return this.#hasRead.promise;
  }

  /** What of the journal counts as memory of the task, besides its messages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws ConnectError when the store cannot be read, JournalError when the journal cannot */
  async read(): Promise<Journal> {
    const isToStop = this.#executor.isStopping;
    try {
      return await this.#readInTurn();
    } catch (error) {
      if (this.#executor.isGone || isToStop === this.#executor.isStopping) throw error;
      return this.#readInTurn(); // it has left the line of those that may work for hours for that of those that are to stop
    }
  }

  /** The executor is told to stop, and its journal has not been read. @param hasPlace whether it has got its place */
  hurry(hasPlace: boolean): void {
    if (this.#onHeard !== undefined) this.#waitForStore();
    else if (hasPlace) this.#leaveLine();
    else this.#wait(this.#graceMs);
  }

  /** The executor has got its place. */
  stopTimer(): void {
    this.#cancelTimer();
  }

  /** The executor has ended. */
  end(): void {
    this.#cancelTimer();
    this.#leave.abort();
    this.#hasRead.resolve(true);
  }

  #readInTurn(): Promise<Journal> {
    const executor = this.#executor;
    const { live } = executor;
    const { memoryTurns, readBacks } = this.#context;
    const { promise, resolve, reject } = Promise.withResolvers<Journal>();
    const read = async (heard: () => void): Promise<number> => {
      if (!executor.isStopping && memoryTurns.areDue(live.memory)) await memoryTurns.begin(live.memory);
      if (executor.isGone) return 0;
      this.#onHeard = heard;
      this.#heardStore();
      const journal = await this.#readLog().finally(() => {
        this.#onHeard = undefined;
        this.#cancelTimer();
      });
      if (executor.isGone) return 0;
      this.#count(journal);
      resolve(journal);
      return this.#bytes;
    };
    readBacks.run(executor, () => this.#leave.signal, read).then(() => this.#hasRead.resolve(true), reject);
    return promise;
  }

  async #readLog(): Promise<Journal> {
    const { live, share } = this.#executor;
    for (;;) {
      await live.flushed();
      const { sequence } = live.accepted;
      const { history } = live.seen().task;
      const task = { owner: live.owner, taskId: live.name.taskId, history, withDetails: false };
      const journal = await readJournal(this.#context, task, share, () => this.#heardStore());
      if (sequence === live.accepted.sequence) {
        return journal; // what is accepted, what callers see, and what was read are the same
      }
    }
  }

  #count({ recordMemory, messageMemory, call }: Journal): void {
    this.#bytes = recordMemory + messageMemory + weighDetails(call ?? {});
    this.#executor.live.memory.grow(this.#bytes);
  }

  #heardStore(): void {
    this.#onHeard?.();
    if (this.#executor.isStopping && !this.#executor.isGone) this.#waitForStore();
  }

  #waitForStore(): void {
    this.#wait(Math.max(this.#graceMs, maxSilenceMs));
  }

  #wait(ms: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#context.clock.schedule(ms, () => {
      this.#hasRead.resolve(false);
      this.#onLate();
    });
  }

  #leaveLine(): void {
    this.#executor.live.output.stopWaiting();
    this.#leave.abort();
    this.#leave = new AbortController();
  }
}
