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
  /** Of the callers that have a slot. */
  readonly #taken = new Map<string, number>();

  /** @param maxShare above 0, to 1: a caller may have all slots */
  constructor(maxShare: number) {
    this.#timesFree = maxShare >= 1 ? Number.POSITIVE_INFINITY : maxShare / (1 - maxShare);
  }

  /** Whether the caller may take one more of these slots. */
  mayTake(share: string | undefined, { all, taken }: Places): boolean {
    if (share === undefined || taken >= all) {
      return taken < all;
    }
    return (this.#taken.get(share) ?? 0) < this.#timesFree * (all - taken);
  }

  /** The caller has so many slots more, or fewer. */
  count(share: string | undefined, change: number): void {
    if (share === undefined) {
      return;
    }
    const taken = (this.#taken.get(share) ?? 0) + change;
    if (taken === 0) this.#taken.delete(share);
    else this.#taken.set(share, taken);
  }
}
