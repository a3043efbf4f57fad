/** What a budget is about, and how much there is. */
export interface SharedBudgetOptions {
  /** How much there is, in any unit. */
  readonly max: number;
  /** The part of it that one caller can have: above 0, to 1 for all of it. */
  readonly maxShare: number;
  /** What a holding may have without being counted. Default 0. */
  readonly uncounted?: number;
  /** The error of one that is refused. */
  readonly refuse: () => Error;
}

/** What one thing has of a budget. */
export interface Holding {
  /** The caller; undefined: none is known. */
  readonly share: string | undefined;
  /** How much it has, whether it is counted or not. */
  readonly amount: number;
  /**
   * Takes more. A holding that is alone gets any amount.
   *
   * @throws Error of the budget when there is no room for it; then it has what it had
   */
  add(amount: number): void;
  /** Takes more, or gives some back when it is negative. Is never refused. */
  grow(amount: number): void;
  /** Gives all of it back. May be called more than once. */
  end(): void;
}

/**
 * Bounds what all callers together have of something, such as memory, and what one of them has. No caller loses what it
 * has, so some is always kept for others: a caller may take more while it has less than `maxShare / (1 - maxShare)`
 * times as much as is free. The first caller gets `maxShare` of all, the next as much of the rest. What a caller has beyond
 * its part, because its holdings have grown, counts for itself alone: otherwise it would leave the others nothing.
 */
export class SharedBudget {
  readonly #options: SharedBudgetOptions;
  /** What each caller has, and how much of it is taken from what there is for all. */
  readonly #byShare = new Map<string, { readonly all: number; readonly taken: number }>();
  /** What all have together. */
  #all = 0;
  /** The same, but of each caller no more than its part. */
  #taken = 0;

  constructor(options: SharedBudgetOptions) {
    this.#options = options;
  }

  /**
   * Something that has nothing yet.
   *
   * @param share names the caller; undefined: its part is not bounded
   * @param isBounded false: it is counted, and never refused
   */
  open(share: string | undefined, isBounded = true): Holding {
    const { uncounted = 0, refuse } = this.#options;
    let held = 0;
    let counted = 0;
    const count = (change: number): void => {
      counted += change;
      this.#count(share, change);
    };
    const changeBy = (amount: number): number => (held + amount > uncounted ? held + amount : 0) - counted;
    return {
      share,
      get amount() {
        return held;
      },
      add: (amount) => {
        const change = changeBy(amount);
        const isAlone = this.#all === counted;
        if (isBounded && change > 0 && !isAlone && !this.#hasRoom(share, change)) throw refuse();
        held += amount;
        count(change);
      },
      grow: (amount) => {
        const change = changeBy(amount);
        held += amount;
        if (change !== 0) count(change);
      },
      end: () => {
        count(-counted);
        held = 0;
      },
    };
  }

  /**
   * Whether a new holding of this caller would get so much now.
   *
   * @param coming what will be taken besides, at most
   */
  hasRoom(share: string | undefined, amount: number, coming: number): boolean {
    const { uncounted = 0 } = this.#options;
    const isAlone = this.#all + coming === 0;
    return amount <= uncounted || isAlone || this.#hasRoom(share, amount + coming);
  }

  /**
   * Whether a caller has more than its part: holdings have grown, or others have taken since then.
   *
   * @param times whether it has more than so many parts
   */
  isExceeded(share: string | undefined, times = 1): boolean {
    if (share === undefined) return this.#taken > this.#options.max * times;
    return this.#of(share).all > this.#partOf(share) * times;
  }

  #hasRoom(share: string | undefined, amount: number): boolean {
    if (this.#taken + amount > this.#options.max) return false;
    return share === undefined || this.#of(share).all + amount <= this.#partOf(share);
  }

  #count(share: string | undefined, change: number): void {
    this.#all += change;
    if (share === undefined) {
      this.#taken += change;
      return;
    }
    const before = this.#of(share);
    const all = before.all + change;
    const taken = Math.min(all, Math.max(before.taken, this.#partOf(share)));
    this.#taken += taken - before.taken;
    if (all === 0) this.#byShare.delete(share);
    else this.#byShare.set(share, { all, taken });
  }

  /** How much a caller may have, beside what the others have now. */
  #partOf(share: string): number {
    const { max, maxShare } = this.#options;
    return Math.max(0, (max - this.#taken + this.#of(share).taken) * maxShare);
  }

  #of(share: string): { readonly all: number; readonly taken: number } {
    return this.#byShare.get(share) ?? { all: 0, taken: 0 };
  }
}
