/** A caller's place in the order of turns; the lowest is served next. No two callers have the same. */
export interface Place {
  /** The number of the turn that the caller had last. */
  readonly servedAt: number;
  /** Tells callers apart that came between the same two turns. */
  readonly came: number;
}

/** Negative when the first place is served before the second. */
export function comparePlaces(one: Place, other: Place): number {
  return one.servedAt - other.servedAt || one.came - other.came;
}

/**
 * The turns of callers that have work. A caller that is served goes behind all others. A new one comes before the caller
 * that was served last, and behind the rest: were it served first, callers that leave and come back would starve one that
 * always has work.
 */
export class CallerOrder {
  /** The callers that have work, and how many pieces. */
  readonly #callers = new Map<string | undefined, { works: number; place: Place }>();
  #served = 0;
  #came = 0;

  /** The caller has one more piece of work. */
  enter(share: string | undefined): void {
    const caller = this.#callers.get(share);
    if (caller !== undefined) caller.works += 1;
    else this.#callers.set(share, { works: 1, place: this.#newPlace() });
  }

  /** The caller has one piece less. */
  leave(share: string | undefined): void {
    const caller = this.#callers.get(share);
    if (caller === undefined) return;
    caller.works -= 1;
    if (caller.works === 0) this.#callers.delete(share);
  }

  /** The caller has its turn now. */
  serve(share: string | undefined): void {
    const caller = this.#callers.get(share);
    if (caller !== undefined) caller.place = { servedAt: ++this.#served, came: 0 };
  }

  /** @param share a caller that has work */
  placeOf(share: string | undefined): Place {
    return this.#callers.get(share)?.place ?? this.#newPlace();
  }

  #newPlace(): Place {
    return { servedAt: this.#served - 0.5, came: ++this.#came };
  }
}
