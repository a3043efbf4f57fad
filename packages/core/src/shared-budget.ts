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
    return new CountedHolding(this, share, isBounded);
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
    const own = this.#byShare.get(share);
    return own !== undefined && own.all > this.#partOf(share) * times;
  }

  /** For its holdings. @throws Error of the budget when a holding of this caller, which has `counted`, may not have so much more */
  admit(share: string | undefined, counted: number, change: number): void {
    const isAlone = this.#all === counted;
    if (change > 0 && !isAlone && !this.#hasRoom(share, change)) throw this.#options.refuse();
  }

  /** For its holdings: what a holding with so much counts for. */
  countOf(amount: number): number {
    return amount > (this.#options.uncounted ?? 0) ? amount : 0;
  }

  /** For its holdings: a caller has so much more. */
  count(share: string | undefined, change: number): void {
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

  #hasRoom(share: string | undefined, amount: number): boolean {
    if (this.#taken + amount > this.#options.max) return false;
    return share === undefined || this.#of(share).all + amount <= this.#partOf(share);
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

/**
 * Gives what has the same limits the same budgets, for as long as one of them is in use: several servers with budgets of their own
 * could have as much as one may, each.
 */
export function shareByLimits<Limits extends object, Budgets extends object>(
  create: (limits: Limits) => Budgets,
): (limits: Limits) => Budgets {
  const known = new Map<string, WeakRef<Budgets>>();
  return (limits) => {
    const name = Object.values(limits).join(" ");
    const budgets = known.get(name)?.deref() ?? create(limits);
    known.set(name, new WeakRef(budgets));
    return budgets;
  };
}

/** What one thing has. A class, because an object with a getter and functions of its own takes six times as long to make. */
class CountedHolding implements Holding {
  readonly share: string | undefined;
  readonly #budget: SharedBudget;
  readonly #isBounded: boolean;
  #amount = 0;
  #counted = 0;

  constructor(budget: SharedBudget, share: string | undefined, isBounded: boolean) {
    this.#budget = budget;
    this.share = share;
    this.#isBounded = isBounded;
  }

  get amount(): number {
    return this.#amount;
  }

  add(amount: number): void {
    if (this.#isBounded) {
      const change = this.#budget.countOf(this.#amount + amount) - this.#counted;
      this.#budget.admit(this.share, this.#counted, change);
    }
    this.grow(amount);
  }

  grow(amount: number): void {
    this.#amount += amount;
    this.#count(this.#budget.countOf(this.#amount) - this.#counted);
  }

  end(): void {
    this.#amount = 0;
    this.#count(-this.#counted);
  }

  #count(change: number): void {
    if (change === 0) return; // as of most tasks, which are small
    this.#counted += change;
    this.#budget.count(this.share, change);
  }
}
