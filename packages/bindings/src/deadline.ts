import { longestTimerMs, type Timer } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { HttpRequest } from "./http.ts";

/**
 * The time when a call must end, as its caller asked. It ends the call, never the work that the call has started.
 *
 * Its signal aborts with DeadlineExceeded when the time is up, and when the caller disconnects.
 */
export class Deadline {
  /** Why the call does not begin: its time was up when it came. */
  readonly refusal: ConnectError | undefined;
  readonly #endsAt: number;
  readonly #request: Pick<HttpRequest, "signal" | "turnToGoOn">;
  readonly #stopTimer: () => void;
  #isStopped = false;
  #passed: ConnectError | undefined;
  #controller: AbortController | undefined;

  /** @param timeoutMs from now, not negative; a call with more than 24 days needs no timer */
  constructor(timeoutMs: number, request: Pick<HttpRequest, "signal" | "turnToGoOn">, timer: Timer) {
    this.refusal = timeoutMs === 0 ? deadlineExceeded() : undefined;
    this.#endsAt = performance.now() + timeoutMs;
    this.#request = request;
    this.#stopTimer = timeoutMs > longestTimerMs ? () => {} : timer(timeoutMs, () => void this.#pass());
  }

  /** The remaining time in milliseconds; negative when the time is up. */
  get remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Made when code first reads it, like the request's signal. */
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

  /** The call ended in time: the deadline no longer aborts the signal. */
  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  async #pass(): Promise<void> {
    const turn = this.#request.turnToGoOn?.(); // the time of thousands may be up at the same moment
    if (turn !== undefined) await turn;
    if (this.#isStopped) return;
    this.#passed = deadlineExceeded();
    this.#controller?.abort(this.#passed);
  }
}

function deadlineExceeded(): ConnectError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}
