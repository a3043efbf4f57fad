import type { Clock } from "../engine/clock.ts";

/** A look that takes longer does not keep the others waiting: it waits for its store, which may be slow or hang. */
const maxLookMs = 50;

/** How soon a sender may read the next page of due deliveries: in a round through all, or after a long one with nothing to start. */
export const nextPageMs = 50;

/** How soon after a sender's pause that of another may end: so many times as long as its look took, within these bounds. */
const [restFactor, minRestMs, maxRestMs] = [4, 20, 50];

/**
 * Lets senders look for due deliveries one at a time, one in a turn of the event loop, in the order in which they ask: a look reads
 * hundreds of rows, and the senders of all agents of a host may be woken by the same.
 */
export class LookTurns {
  readonly #clock: Pick<Clock, "nextTurn" | "schedule" | "ticks">;
  /** Tells each sender that waits whether it may look; whose turn is next comes first. */
  readonly #waiting = new Map<object, (mayLook: boolean) => void>();
  #isTaken = false;
  #lastPageAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "nextTurn" | "schedule" | "ticks">) {
    this.#clock = clock;
  }

  /**
   * @param look does not run when the sender leaves before its turn
   * @param onEnd is called when the look's turn is over
   */
  async run(sender: object, look: () => Promise<void>, onEnd: () => void): Promise<void> {
    if (!(await this.#turn(sender))) return;
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      onEnd();
      void this.#endTurn();
    };
    const cancelEnd = this.#clock.schedule(maxLookMs, end, { background: true });
    try {
      await look();
    } finally {
      cancelEnd();
      end();
    }
  }

  /** The sender waits no more. A look of it that runs goes on. */
  leave(sender: object): void {
    const tell = this.#waiting.get(sender);
    this.#waiting.delete(sender);
    tell?.(false);
  }

  /**
   * When the sender that has just read a long page with nothing to start may read the next one, as `ticks` counts. Senders take turns.
   *
   * @param lookMs how long it took to read the page and to choose; large configs make it long
   */
  findNextPage(lookMs: number): number {
    const restMs = Math.min(Math.max(minRestMs, restFactor * lookMs), maxRestMs);
    this.#lastPageAt = Math.max(this.#clock.ticks() + nextPageMs, this.#lastPageAt + restMs);
    return this.#lastPageAt;
  }

  #turn(sender: object): true | Promise<boolean> {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.set(sender, resolve));
    this.#isTaken = true;
    return true;
  }

  async #endTurn(): Promise<void> {
    await this.#clock.nextTurn();
    const [[sender, tell] = []] = this.#waiting;
    if (sender !== undefined) this.#waiting.delete(sender);
    this.#isTaken = sender !== undefined;
    tell?.(true);
  }
}
