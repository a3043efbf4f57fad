import type { ClientClock } from "../clock.ts";
import { SilenceError } from "../platform.ts";

/** Aborts after a time of silence. It uses one timer for each period, not one for each message. */
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

  /** A message came: the time begins anew. */
  heard(): void {
    this.#lastMs = this.#clock.now();
    this.#paused = false;
  }

  /** No message is expected until the next `heard`. */
  pause(): void {
    this.#paused = true;
  }

  /** Ends the watch. Call it in any case. */
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

/** An abort without a reason creates one each time, with a stack. */
const isStopped = new Error("the watch was stopped");
