import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "./clock.ts";

/** Readers that are woken in one turn of the event loop: each formats and writes what it has waited for. */
const wokenInATurn = 256;

/** Wakes readers, of all tasks together a few in a turn of the event loop: the commits of many tasks may be one transaction. */
export class ReaderWakes {
  readonly #clock: Pick<Clock, "nextTurn">;
  #waiting: (() => void)[] = [];
  #woken = 0;

  constructor(clock: Pick<Clock, "nextTurn">) {
    this.#clock = clock;
  }

  /** Calls them, in this turn or in later ones. */
  wake(readers: Iterable<() => void>): void {
    for (const reader of readers) {
      if (this.#woken < wokenInATurn) this.#wakeNow(reader);
      else this.#waiting.push(reader);
    }
  }

  #wakeNow(reader: () => void): void {
    if (this.#woken === 0) void this.#clock.nextTurn().then(() => this.#beginTurn());
    this.#woken += 1;
    reader();
  }

  #beginTurn(): void {
    this.#woken = 0;
    const waiting = this.#waiting;
    this.#waiting = waiting.slice(wokenInATurn);
    this.wake(waiting.slice(0, wokenInATurn));
  }
}

/** The readers of a task that have seen everything, and wait for its next commit. */
export class WaitingReaders {
  readonly #readers = new Set<() => void>();
  readonly #wakes: ReaderWakes;

  constructor(wakes: ReaderWakes) {
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
