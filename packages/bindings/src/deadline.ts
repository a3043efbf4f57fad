import { Code, ConnectError } from "@connectrpc/connect";
import type { HttpRequest } from "./http.ts";
import type { Timer } from "./timer.ts";

/** Timers of platforms wrap around beyond this; a call that may take 24 days has no deadline worth a timer. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * When a call has to be over, by the word of its caller. It ends the call, never what the call has started.
 *
 * Its signal aborts with DeadlineExceeded when the time is up, and when the caller goes away.
 */
export class Deadline {
  readonly #endsAt: number;
  readonly #request: Pick<HttpRequest, "signal">;
  readonly #stopTimer: () => void;
  #passed: ConnectError | undefined;
  #controller: AbortController | undefined;

  /** @param timeoutMs from now, not negative */
  constructor(timeoutMs: number, request: Pick<HttpRequest, "signal">, timer: Timer) {
    this.#endsAt = performance.now() + timeoutMs;
    this.#request = request;
    this.#stopTimer = timeoutMs > longestTimerMs ? () => {} : timer(timeoutMs, () => this.#pass());
  }

  /** What is left in milliseconds; negative when the time is up. */
  get remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Made when somebody first looks at it, as that of the request. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const { signal } = this.#request;
      if (this.#passed !== undefined || signal.aborted) {
        this.#controller.abort(this.#passed ?? signal.reason);
      } else {
        signal.addEventListener("abort", () => this.#controller?.abort(signal.reason), { once: true });
      }
    }
    return this.#controller.signal;
  }

  /** The call is over in time: the signal aborts no more for the deadline's sake. */
  stop(): void {
    this.#stopTimer();
  }

  #pass(): void {
    this.#passed = deadlineExceeded();
    this.#controller?.abort(this.#passed);
  }
}

/** What a caller is told whose deadline has passed. */
export function deadlineExceeded(): ConnectError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}
