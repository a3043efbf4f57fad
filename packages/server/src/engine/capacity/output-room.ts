import type { Holding } from "@a2a-connect/core/internal";
import type { EngineContext } from "../engine-context.ts";
import type { TaskLog } from "../task-log.ts";

/** Memory that is counted for what an executor is about to put out. */
export interface Reservation {
  /** It takes so much by now. */
  resize(bytes: number): void;
  /** The task has it, or will not. */
  free(): void;
}

/** When the executor of one task may put out more: its log, the turns of executors and its caller's memory have room. */
export class OutputRoom {
  readonly #context: Pick<EngineContext, "wakes" | "memoryTurns" | "stopTurns">;
  readonly #log: Pick<TaskLog, "isFull" | "flushed">;
  readonly #memory: Holding;
  #isStopping = false;

  constructor(
    context: Pick<EngineContext, "wakes" | "memoryTurns" | "stopTurns">,
    log: Pick<TaskLog, "isFull" | "flushed">,
    memory: Holding,
  ) {
    this.#context = context;
    this.#log = log;
    this.#memory = memory;
  }

  /** What an executor waits for before it may yield more, or begin another step; undefined: nothing. @param share its caller, for turns */
  wait(share: string | undefined): Promise<void> | undefined {
    const isFull = this.#log.isFull || this.#needsMemoryTurn;
    const turn = isFull ? undefined : this.#context.wakes.executors.turn(share);
    return isFull || turn !== undefined ? this.#wait(share, turn) : undefined;
  }

  /**
   * Counts what is about to be put out, and waits until there is room for it: it is in memory while it waits. An executor that is to stop
   * waits, too, in turns that are short: hundreds may put out what they have at the same moment.
   */
  async reserve(bytes: number): Promise<Reservation> {
    let reserved = 0;
    const resize = (to: number): void => {
      this.#memory.grow(to - reserved);
      reserved = to;
    };
    resize(bytes);
    const free = (): void => resize(0);
    try {
      await this.wait(this.#memory.share);
      const { stopTurns } = this.#context;
      if (this.#isStopping && stopTurns.areDue(this.#memory)) await stopTurns.begin(this.#memory);
    } catch (error) {
      free();
      throw error;
    }
    return { resize, free };
  }

  /** The executor was told to stop: it does not wait for those that go on. */
  stopWaiting(): void {
    this.#isStopping = true;
    this.#context.memoryTurns.end(this.#memory);
  }

  /** The executor has ended: the next one of the task waits again. */
  endExecutor(): void {
    this.#isStopping = false;
    this.#context.memoryTurns.end(this.#memory);
  }

  /** The task leaves memory. */
  end(): void {
    this.stopWaiting();
    this.#context.stopTurns.end(this.#memory);
  }

  async #wait(share: string | undefined, turn: Promise<void> | undefined): Promise<void> {
    const { memoryTurns, wakes } = this.#context;
    if (turn === undefined) await this.#log.flushed();
    await (turn ?? wakes.executors.turn(share)); // the commits of hundreds of tasks may end in the same turn of the event loop
    // Asked last: while this executor waited, others may have taken the memory.
    if (!this.#needsMemoryTurn) {
      memoryTurns.end(this.#memory);
      return;
    }
    await memoryTurns.begin(this.#memory);
    await wakes.executors.turn(share); // thousands of steps of this executor may have waited for it
  }

  get #needsMemoryTurn(): boolean {
    return !this.#isStopping && this.#context.memoryTurns.areDue(this.#memory);
  }
}
