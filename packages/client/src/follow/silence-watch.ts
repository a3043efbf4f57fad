import type { ClientClock } from "../clock.ts";
import { SilenceError } from "../platform.ts";

/** Aborts after a time in which nothing was heard. One timer a period, not one a message. */
export class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #stopped = new AbortController();
  readonly #clock: ClientClock;
  readonly #limitMs: number;
  #lastMs: number;
  #paused = false;

  constructor(clock: ClientClock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#lastMs = clock.now();
    this.#watch().catch(() => {}); // stopped
  }

  /** Aborted with a SilenceError. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** There is life: the time begins anew. */
  heard(): void {
    this.#lastMs = this.#clock.now();
    this.#paused = false;
  }

  /** Nothing is waited for, up to the next `heard`. */
  pause(): void {
    this.#paused = true;
  }

  /** Ends the watch; to be called in any case. */
  stop(): void {
    this.#stopped.abort(isStopped);
  }

  async #watch(): Promise<void> {
    for (;;) {
      const waited = this.#paused ? 0 : this.#clock.now() - this.#lastMs;
      if (waited >= this.#limitMs) {
        this.#controller.abort(new SilenceError("nothing was heard"));
        return;
      }
      await this.#clock.sleep(this.#limitMs - waited, this.#stopped.signal);
    }
  }
}

/** An abort without a reason makes one, with a stack, each time. */
const isStopped = new Error("the watch was stopped");
