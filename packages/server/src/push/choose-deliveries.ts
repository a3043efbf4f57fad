import type { Delivery } from "../store/task-store.ts";

/** What a sender knows when it chooses. */
export interface SenderState {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Numbers of the deliveries under way. */
  readonly running: ReadonlySet<number>;
  /** How many more may be under way, and how many of them may be further attempts. */
  readonly places: number;
  readonly retryPlaces: number;
  /** Number of the delivery whose turn was last. */
  readonly last: number;
  /** The longest that a delivery may have been put off. */
  readonly maxDelayMs: number;
}

/** What is done about a page of deliveries. */
export interface DeliveryChoice {
  readonly start: readonly Delivery[];
  /** When the next becomes due by itself (milliseconds since 1970). */
  readonly nextAt: number | undefined;
}

/**
 * Which deliveries to start. Further attempts go by time and take the places that are theirs, and no more; the others
 * take turns, whatever is waiting behind each of them.
 *
 * @param page earliest first, also what is not due yet
 */
export function chooseDeliveries(page: readonly Delivery[], state: SenderState): DeliveryChoice {
  const { now, running, places, retryPlaces, last, maxDelayMs } = state;
  // Nothing is put off for longer than that: the clock has been set back since.
  const isDue = ({ dueAt }: Delivery) => dueAt <= now || dueAt > now + maxDelayMs;
  const due = page.filter((delivery) => !running.has(delivery.number) && isDue(delivery));
  const fresh = due.filter(({ attempts }) => attempts === 0).sort((one, other) => one.number - other.number);
  const turns = [
    ...fresh.filter(({ number }) => number > last),
    ...fresh.filter(({ number }) => number <= last),
  ];
  const retries = due.filter(({ attempts }) => attempts > 0).slice(0, retryPlaces);
  const nextAt = page.find((delivery) => !isDue(delivery))?.dueAt;
  return { start: [...retries, ...turns].slice(0, places), nextAt };
}
