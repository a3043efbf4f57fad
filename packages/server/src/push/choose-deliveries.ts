import { foreignOriginOf } from "@a2a-connect/core/internal";
import { Shares } from "../engine/capacity/shares.ts";
import type { Delivery, DueDeliveries } from "../store/task-store.ts";

/** A request for a delivery, and what it takes of the limits. */
export interface Attempt {
  readonly delivery: Delivery;
  /** The caller whose part of the limits it takes. */
  readonly share: string;
  /** Size of its body, or of its event as long as there is no body. */
  readonly bytes: number;
}

/** What a sender knows when it chooses. */
export interface SenderState {
  /** The requests that ran when the store was asked. */
  readonly running: readonly Attempt[];
  /**
   * What takes places besides: requests of other senders, and those that have failed a moment ago, whose deliveries may have another.
   */
  readonly others: readonly Attempt[];
  /** How many requests may run at a time. */
  readonly maxConcurrent: number;
  /** No large notification is begun while those under way have as many bytes. */
  readonly maxConcurrentBytes: number;
  /** The part of each limit that one caller may take; above 0, to 1 (see `Shares`). */
  readonly maxShare: number;
  /** The caller that registered a delivery's webhook. */
  shareOf(delivery: Delivery): string;
}

/** What to do about due deliveries. */
export interface DeliveryChoice {
  readonly start: readonly Attempt[];
  /** Number of the last delivery due at once that was considered, started or skipped; undefined when none was. */
  readonly last: number | undefined;
  /** The same for repeated attempts. */
  readonly lastRetry: Delivery | undefined;
  /** Whether more requests may run. */
  readonly hasRoom: boolean;
  /** Whether these may be repeated attempts. */
  readonly hasRetryRoom: boolean;
}

/** Whether a notification is counted in bytes. As many small ones as may run take little. */
export function isLarge({ bytes }: Pick<Attempt, "bytes">): boolean {
  return bytes > 16 * 1024;
}

/**
 * Which deliveries to start. Repeated attempts may be half of all requests and no more. The others are served in the
 * order of their numbers, however many events each has. One origin also gets at most half of all requests, however many
 * webhooks it has, so that a slow origin does not delay the others; half of those may be repeated attempts, so that its
 * failing webhooks do not delay the others there. Of each of these limits, and of the bytes, one caller gets no more than
 * its share: a caller may name as many slow origins as it likes.
 */
export function chooseDeliveries(
  { fresh, retries }: Omit<DueDeliveries, "nextAt">,
  { running, others, maxConcurrent, maxConcurrentBytes, maxShare, shareOf }: SenderState,
): DeliveryChoice {
  const half = Math.ceil(maxConcurrent / 2);
  const requests = new Limit(maxConcurrent, maxShare);
  const repeated = new Limit(half, maxShare);
  const bytes = new Limit(maxConcurrentBytes, maxShare);
  const origins = new Map<string, { readonly requests: Limit; readonly repeated: Limit }>();
  const busy = new Set(running.map(({ delivery }) => delivery.number));
  const start: Attempt[] = [];
  let last: number | undefined;
  let lastRetry: Delivery | undefined;

  function limitsOf(attempt: Attempt): readonly Limit[] {
    const origin = originOf(attempt.delivery);
    const atOrigin = origins.get(origin) ?? {
      requests: new Limit(half, maxShare),
      repeated: new Limit(Math.ceil(half / 2), maxShare),
    };
    origins.set(origin, atOrigin);
    const limits = [requests, atOrigin.requests];
    if (attempt.delivery.attempts > 0) limits.push(repeated, atOrigin.repeated);
    if (isLarge(attempt)) limits.push(bytes);
    return limits;
  }

  function occupy(attempt: Attempt, limits: readonly Limit[]): void {
    for (const limit of limits) limit.take(attempt.share, limit === bytes ? attempt.bytes : 1);
  }

  function consider(delivery: Delivery): void {
    if (busy.has(delivery.number)) return;
    const attempt = { delivery, share: shareOf(delivery), bytes: delivery.bytes };
    const limits = limitsOf(attempt);
    if (!limits.every((limit) => limit.mayTake(attempt.share))) return;
    start.push(attempt);
    occupy(attempt, limits);
  }

  for (const attempt of [...running, ...others]) occupy(attempt, limitsOf(attempt));
  for (const delivery of retries) {
    if (!requests.hasRoom || !repeated.hasRoom) break;
    consider(delivery);
    lastRetry = delivery;
  }
  const hasRetryRoom = requests.hasRoom && repeated.hasRoom;
  for (const delivery of fresh) {
    if (!requests.hasRoom) break;
    consider(delivery);
    last = delivery.number;
  }
  return { start, last, lastRetry, hasRoom: requests.hasRoom, hasRetryRoom };
}

/** Something of which all callers together have a limited amount, and one caller its share. */
class Limit {
  readonly #all: number;
  readonly #shares: Shares;
  #taken = 0;

  constructor(all: number, maxShare: number) {
    this.#all = all;
    this.#shares = new Shares(maxShare);
  }

  get hasRoom(): boolean {
    return this.#taken < this.#all;
  }

  mayTake(share: string): boolean {
    return this.#shares.mayTake(share, { all: this.#all, taken: this.#taken });
  }

  take(share: string, amount: number): void {
    this.#taken += amount;
    this.#shares.count(share, amount);
  }
}

function originOf({ config: { url } }: Delivery): string {
  return foreignOriginOf(url) ?? url;
}
