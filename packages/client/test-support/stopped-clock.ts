import type { ClientClock } from "../src/clock.ts";

/** A clock on which time passes only when a test lets it. */
export class StoppedClock implements ClientClock {
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  #nowMs = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#nowMs;
  }

  random(): number {
    return 0.5;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const sleeper = { untilMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });
  }

  pass(ms: number): void {
    this.#nowMs += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.untilMs > this.#nowMs) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}
