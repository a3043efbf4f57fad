/** The slots of one caller. */
interface Share {
  running: number;
  waiting: number;
  /** When it last got a running slot: the number of that event. */
  servedAt: number;
}

/** Slots that all callers share. */
export interface Places {
  /** How many there are. */
  readonly all: number;
  /** How many of them are in use. */
  readonly taken: number;
}

/**
 * Counts the slots of each caller. No caller loses a slot that it has, so some are always kept for others: a caller may
 * take another one while it has less than `maxShare / (1 - maxShare)` times as many as are free. The first caller gets
 * `maxShare` of all slots, the next as much of the rest. Of seven slots or fewer the default lets one caller have all.
 *
 * Callers without a name (`undefined`) are not counted.
 */
export class Shares {
  readonly #timesFree: number;
  /** The callers that have a slot. */
  readonly #shares = new Map<string, Share>();
  #served = 0;

  /** @param maxShare above 0, to 1: a caller may have all slots */
  constructor(maxShare: number) {
    this.#timesFree = maxShare >= 1 ? Number.POSITIVE_INFINITY : maxShare / (1 - maxShare);
  }

  /** Whether the caller may take one more of these slots. */
  mayTake(share: string | undefined, kind: "running" | "waiting", { all, taken }: Places): boolean {
    if (share === undefined || taken >= all) {
      return taken < all;
    }
    return (this.#shares.get(share)?.[kind] ?? 0) < this.#timesFree * (all - taken);
  }

  /** The caller has so many slots more, or fewer. */
  count(share: string | undefined, kind: "running" | "waiting", change: number): void {
    if (share === undefined) {
      return;
    }
    const counted = this.#shares.get(share) ?? { running: 0, waiting: 0, servedAt: 0 };
    counted[kind] += change;
    if (counted.running + counted.waiting === 0) {
      this.#shares.delete(share);
    } else {
      this.#shares.set(share, counted);
    }
  }

  /** The caller got a running slot: other callers come before it now. */
  serve(share: string | undefined): void {
    const served = share === undefined ? undefined : this.#shares.get(share);
    if (served !== undefined) {
      served.servedAt = ++this.#served;
    }
  }

  /** When the caller was last served; the lowest was served longest ago. 0 for callers that never were. */
  servedAt(share: string | undefined): number {
    return share === undefined ? 0 : (this.#shares.get(share)?.servedAt ?? 0);
  }
}
