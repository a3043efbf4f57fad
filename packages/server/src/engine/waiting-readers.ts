import { Code, ConnectError } from "@connectrpc/connect";
import type { Wakes } from "./wakes.ts";

/** The readers of a task that have seen everything, and wait for its next commit. */
export class WaitingReaders {
  readonly #readers = new Set<() => void>();
  readonly #wakes: Wakes;

  constructor(wakes: Wakes) {
    this.#wakes = wakes;
  }

  /** Resolves at the next commit. It only means "look again". @throws ConnectError why `signal` aborted */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      const abort = () => {
        this.#readers.delete(wake);
        // Connect gives the reason as an error of its own, such as DeadlineExceeded.
        const { reason } = signal;
        reject(
          reason instanceof ConnectError ? reason : new ConnectError("the call was canceled", Code.Canceled),
        );
      };
      if (signal.aborted) {
        abort();
        return;
      }
      signal.addEventListener("abort", abort, { once: true });
      this.#readers.add(wake);
    });
  }

  /** They look again. Other calls run between many of them. */
  wake(): void {
    if (this.#readers.size === 0) return;
    const readers = [...this.#readers];
    this.#readers.clear();
    this.#wakes.wake(readers);
  }
}
