/** What a budget is about, and how much there is. */
export interface SharedBudgetOptions {
  /** How much there is, in any unit. */
  readonly max: number;
  /** The part of it that one caller can have: above 0, to 1 for all of it. */
  readonly maxShare: number;
  /** What a holding has at most that counts as small. Default 0. */
  readonly small?: number;
  /** The error of one that is refused. */
  readonly refuse: () => Error;
}

/** What one thing has of a budget. */
export interface Holding {
  /** The caller; undefined: none is known. */
  readonly share: string | undefined;
  /** How much it has. */
  readonly amount: number;
  /**
   * Takes more. A holding that is alone gets any amount; where there are small ones, also beside others that have an eighth of `max`.
   *
   * @throws Error of the budget when there is no room for it; then it has what it had
   */
  add(amount: number): void;
  /** Takes more, or gives some back when it is negative. Is never refused. */
  grow(amount: number): void;
  /** Gives what it has to a new holding, so that none of it is free meanwhile. This one has nothing then, and may take more. */
  move(): Holding;
  /** Gives all of it back, for good: what is added or given back later does not count. May be called more than once. */
  end(): void;
}

/**
 * Bounds what all callers together have of something, such as memory, and what one of them has. No caller loses what it
 * has, so some is always kept for others: a caller may take more while it has less than `maxShare / (1 - maxShare)`
 * times as much as is free. The first caller gets `maxShare` of all, the next as much of the rest. What a caller has beyond
 * its part, because its holdings have grown, counts for itself alone: otherwise it would leave the others nothing. There is an eighth
 * of `max` more for small holdings that callers have beyond their parts, also beside large ones that have grown beyond them: one caller
 * may have 7/8 of what the others leave of it. The first small holding of a caller always finds room.
 */
export class SharedBudget {
  readonly #options: SharedBudgetOptions;
  readonly #byShare = new Map<string | undefined, Part>();
  /** What all have together. */
  #all = 0;
  /** The same, but of each caller no more than its part. */
  #taken = 0;
  /** What callers have beyond their parts in small holdings. */
  #beyond = 0;

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
    return this.#hasRoom(share, amount + coming, this.#all + coming, amount);
  }

  /** Whether a caller has anything. */
  hasAny(share: string): boolean {
    return this.#byShare.has(share);
  }

  /** Whether callers have taken nearly all: less than what two of them leave, each with 7/8 of what it finds. */
  get isTaken(): boolean {
    return this.#options.max - this.#taken < this.#options.max / 64;
  }

  /**
   * Whether all callers together have more than so many times of what there is: not every holding is bounded.
   *
   * @param coming what will be taken besides, at most
   */
  isOverdrawn(times: number, coming: number): boolean {
    return this.#all + coming > this.#options.max * times;
  }

  /**
   * Whether a caller has more than its part, because its holdings have grown. When others have taken since it took its part, it keeps
   * that, and may grow a little: what they send must not hold up what it has. What small holdings have beyond its part does not count.
   *
   * @param times whether it has more than so many parts
   */
  isExceeded(share: string | undefined, times = 1): boolean {
    if (share === undefined) return this.#taken > this.#options.max * times;
    const own = this.#of(share);
    const part = this.#partOf(own);
    const most = part < own.taken ? own.taken + this.#options.max * growth : part;
    const counted = own.all - Math.min(own.beyond, this.#options.max * smallPart);
    return counted > 0 && counted > most * times;
  }

  /** @throws Error of the budget when a caller has more than so many times its part */
  assertWithin(share: string | undefined, times: number): void {
    if (this.isExceeded(share, times)) throw this.#options.refuse();
  }

  /** For its holdings. @throws Error of the budget when a holding of this caller, which has `amount`, may not have so much more */
  admit(share: string | undefined, amount: number, change: number): void {
    const isRefused = change > 0 && !this.#hasRoom(share, change, this.#all - amount, amount + change);
    if (isRefused) throw this.#options.refuse();
  }

  /** For its holdings: one of this caller has `after`, and had `before`. */
  count(share: string | undefined, before: number, after: number): void {
    const own = this.#byShare.get(share) ?? { ...nothing };
    const most = share === undefined ? Number.POSITIVE_INFINITY : Math.max(own.taken, this.#partOf(own));
    this.#all += after - before;
    own.all += after - before;
    own.small += this.#smallOf(after) - this.#smallOf(before);
    const taken = Math.min(own.all, most);
    this.#taken += taken - own.taken;
    own.taken = taken;
    const beyond = Math.min(own.small, own.all - taken);
    this.#beyond += beyond - own.beyond;
    own.beyond = beyond;
    if (own.all === 0) this.#byShare.delete(share);
    else this.#byShare.set(share, own);
  }

  #smallOf(amount: number): number {
    return amount <= (this.#options.small ?? 0) ? amount : 0;
  }

  /**
   * @param amount what the caller wants
   * @param others what others have
   * @param whole what the holding has with it
   */
  #hasRoom(share: string | undefined, amount: number, others: number, whole: number): boolean {
    const { max, small = 0 } = this.#options;
    const forSmall = small === 0 ? 0 : max * smallPart;
    if (others <= forSmall) return true;
    const own = this.#of(share);
    const room = share === undefined ? max - this.#taken : this.#partOf(own) - own.all;
    if (amount <= room) return true;
    if (whole > small) return false;
    const smallOnes = own.small + amount;
    const beyond = Math.min(smallOnes, amount - room);
    return smallOnes <= small || beyond <= (forSmall - this.#beyond + own.beyond) * smallShare;
  }

  /** How much a caller may have, beside what the others have now. */
  #partOf({ taken }: Readonly<Part>): number {
    const { max, maxShare } = this.#options;
    return Math.max(0, (max - this.#taken + taken) * maxShare);
  }

  #of(share: string | undefined): Readonly<Part> {
    return this.#byShare.get(share) ?? nothing;
  }
}

/** How much a caller may grow, of all, when others have taken of what was its part. */
const growth = 1 / 16;

/** What a caller has. */
interface Part {
  all: number;
  /** How much of it is taken from what there is for all. */
  taken: number;
  /** How much of it small holdings have. */
  small: number;
  /** How much of that is beyond its part. */
  beyond: number;
}

const nothing: Readonly<Part> = { all: 0, taken: 0, small: 0, beyond: 0 };

/** What there is for small holdings beyond the parts of their callers, of all, and how much of it one caller may have. */
const smallPart = 1 / 8;
const smallShare = 7 / 8;

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
  #hasEnded = false;

  constructor(budget: SharedBudget, share: string | undefined, isBounded: boolean) {
    this.#budget = budget;
    this.share = share;
    this.#isBounded = isBounded;
  }

  get amount(): number {
    return this.#amount;
  }

  add(amount: number): void {
    if (this.#isBounded && !this.#hasEnded) this.#budget.admit(this.share, this.#amount, amount);
    this.grow(amount);
  }

  grow(amount: number): void {
    if (amount === 0 || this.#hasEnded) return;
    const before = this.#amount;
    this.#amount += amount;
    this.#budget.count(this.share, before, this.#amount);
  }

  move(): Holding {
    const other = new CountedHolding(this.#budget, this.share, this.#isBounded);
    other.#amount = this.#amount;
    this.#amount = 0;
    return other;
  }

  end(): void {
    this.grow(-this.#amount);
    this.#hasEnded = true;
  }
}
