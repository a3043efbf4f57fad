import type { ClientClock } from "../clock.ts";

/** A wait that can be ended early, when it is worth looking again. */
export class WakeUp {
  #wake: (() => void) | undefined;
  #pending = false;

  /** Ends the current wait, or the next one. */
  now(): void {
    this.#pending = true;
    this.#wake?.();
  }

  /**
   * @returns whether it was ended early
   * @throws the signal's reason when it aborts
   */
  async sleep(ms: number, clock: ClientClock, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (!this.#pending) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      try {
        await clock.sleep(ms, AbortSignal.any([signal, woken.signal]));
      } catch (error) {
        signal.throwIfAborted();
        if (!woken.signal.aborted) {
          throw error;
        }
      } finally {
        this.#wake = undefined;
      }
    }
    const isWoken = this.#pending;
    this.#pending = false;
    return isWoken;
  }
}
