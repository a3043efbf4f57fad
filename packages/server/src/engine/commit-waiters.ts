import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "./clock.ts";

interface FlushWaiter {
  readonly sequence: number;
  readonly resolve: () => void;
  readonly reject: (error: ConnectError) => void;
}

/** Readers that are woken in one turn of the event loop: each formats and writes what it has waited for. */
const wokenInATurn = 256;

/** Waits for a task's commits: writers wait until an entry is durable, readers until there is something to see. */
export class CommitWaiters {
  readonly #writers: FlushWaiter[] = [];
  readonly #readers = new Set<() => void>();
  readonly #clock: Pick<Clock, "nextTurn">;

  constructor(clock: Pick<Clock, "nextTurn">) {
    this.#clock = clock;
  }

  /** Resolves when the log is durable up to `sequence`. Callers ask with rising sequences. */
  flushed(sequence: number): Promise<void> {
    return new Promise((resolve, reject) => this.#writers.push({ sequence, resolve, reject }));
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

  /** The log is durable up to `sequence`. */
  commit(sequence: number): void {
    while (this.#writers[0] !== undefined && this.#writers[0].sequence <= sequence) {
      this.#writers.shift()?.resolve();
    }
    this.wakeReaders();
  }

  /** What was accepted and is not durable yet never will be. */
  fail(error: ConnectError): void {
    for (const { reject } of this.#writers.splice(0)) {
      reject(error);
    }
    this.wakeReaders();
  }

  /** Wakes the readers, though nothing was committed here. Other calls run between many of them. */
  wakeReaders(): void {
    const readers = [...this.#readers];
    this.#readers.clear();
    for (const wake of readers.splice(0, wokenInATurn)) {
      wake();
    }
    if (readers.length > 0) {
      void this.#wakeLater(readers);
    }
  }

  async #wakeLater(readers: readonly (() => void)[]): Promise<void> {
    for (let at = 0; at < readers.length; at += wokenInATurn) {
      await this.#clock.nextTurn();
      for (const wake of readers.slice(at, at + wokenInATurn)) {
        wake();
      }
    }
  }
}
