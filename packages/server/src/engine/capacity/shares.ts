import type { Principal } from "@a2a-connect/core";

/** What one caller has. */
interface Share {
  running: number;
  waiting: number;
  /** When it was last given a running place: the number of that event. */
  servedAt: number;
}

/** Some of the places that all callers share. */
export interface Places {
  /** How many there are. */
  readonly all: number;
  /** How many of them are taken. */
  readonly taken: number;
}

/**
 * How many places each caller has. No caller loses a place that it has, so some are always kept for others: a caller may
 * take another one while it has less than `maxShare / (1 - maxShare)` times as many as are free. The first gets `maxShare` of
 * all, the next as much of the rest. Of seven places or fewer the default lets one caller have all.
 *
 * Callers without a name (`undefined`) are not counted.
 */
export class Shares {
  readonly #timesFree: number;
  /** Those that have a place. */
  readonly #shares = new Map<string, Share>();
  #served = 0;

  /** @param maxShare above 0, to 1: a caller may have all places */
  constructor(maxShare: number) {
    this.#timesFree = maxShare >= 1 ? Number.POSITIVE_INFINITY : maxShare / (1 - maxShare);
  }

  /** Whether the caller may take one more of these places. */
  mayTake(share: string | undefined, kind: "running" | "waiting", { all, taken }: Places): boolean {
    if (share === undefined || taken >= all) {
      return taken < all;
    }
    return (this.#shares.get(share)?.[kind] ?? 0) < this.#timesFree * (all - taken);
  }

  /** The caller has one place more or less. */
  count(share: string | undefined, kind: "running" | "waiting", change: 1 | -1): void {
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

  /** The caller has been given a running place: the turn of the others comes first now. */
  serve(share: string | undefined): void {
    const served = share === undefined ? undefined : this.#shares.get(share);
    if (served !== undefined) {
      served.servedAt = ++this.#served;
    }
  }

  /** Who was served longest ago has the lowest; 0 for callers that never were. */
  servedAt(share: string | undefined): number {
    return share === undefined ? 0 : (this.#shares.get(share)?.servedAt ?? 0);
  }
}

/**
 * Names a caller: its principal, or without credentials the network that it is in. Undefined where neither is known.
 *
 * @param network an IPv4 address, or an IPv6 network
 */
export function shareOf({ id, anonymous }: Principal, network: string | undefined): string | undefined {
  if (!anonymous) {
    return `principal ${id}`;
  }
  return network === undefined ? undefined : `network ${network}`;
}
