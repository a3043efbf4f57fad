/** Failures in a row after which the circuit opens. */
const maxFailures = 3;

/** How long it stays open, 30 s. Then one call is let through. */
const pauseMs = 30_000;

/** Keeps calls away from an interface that has failed several times in a row; after each pause it permits one trial. */
export class CircuitBreaker {
  #failures = 0;
  #nextTrialMs = Number.NEGATIVE_INFINITY;

  /** Whether a call may go there. */
  permits(nowMs: number): boolean {
    return this.#failures < maxFailures || nowMs >= this.#nextTrialMs;
  }

  /** A call goes there: after a pause it is the one trial. */
  begin(nowMs: number): void {
    this.#nextTrialMs = nowMs + pauseMs;
  }

  answered(): void {
    this.#failures = 0;
  }

  failed(nowMs: number): void {
    this.#failures += 1;
    this.begin(nowMs);
  }
}
