import type { Clock } from "../clock.ts";

/** How long one that was woken has to get its place before the next one is woken, too. */
const wakeMs = 1_000;

/**
 * Lets one suspect of a process run at a time. It takes the turn in its place: one that waits has neither, so that the turn waits for no
 * place, and no place for the turn. While the turn is free, those that wait are woken one after the other, to ask for their places;
 * callers take turns. The first one to get its place takes the turn.
 */
export class SuspectTurn {
  readonly #clock: Pick<Clock, "schedule">;
  /** How to wake those that wait, by caller; whose turn is next comes first. */
  readonly #waiting = new Map<string | undefined, Set<() => void>>();
  #isTaken = false;
  #cancelTimer: () => void = () => {};

  constructor(clock: Pick<Clock, "schedule">) {
    this.#clock = clock;
  }

  /** @param over resolves when the next suspect may run @returns whether the turn was free */
  take(over: Promise<void>): boolean {
    if (this.#isTaken) return false;
    this.#isTaken = true;
    this.#cancelTimer();
    void over.then(() => {
      this.#isTaken = false;
      this.#wakeNext();
    });
    return true;
  }

  /** While the turn is taken. @returns call it when it waits no more */
  wait(share: string | undefined, wake: () => void): () => void {
    const waiting = this.#waiting.get(share) ?? new Set();
    this.#waiting.set(share, waiting.add(wake));
    return () => this.#forget(share, wake);
  }

  #wakeNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [share, waiting] = next;
    const [wake] = waiting;
    this.#waiting.delete(share); // behind the others
    this.#waiting.set(share, waiting);
    if (wake === undefined) return;
    this.#forget(share, wake);
    this.#cancelTimer = this.#clock.schedule(wakeMs, () => this.#wakeNext(), { background: true });
    wake();
  }

  #forget(share: string | undefined, wake: () => void): void {
    const waiting = this.#waiting.get(share);
    waiting?.delete(wake);
    if (waiting?.size === 0) this.#waiting.delete(share);
  }
}
