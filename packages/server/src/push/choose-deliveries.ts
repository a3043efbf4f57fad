import type { Delivery, DueDeliveries } from "../store/task-store.ts";

/** What a sender knows when it chooses. */
export interface SenderState {
  /** The requests that ran when the store was asked. */
  readonly running: readonly Delivery[];
  /** How many requests may run at a time. */
  readonly maxConcurrent: number;
}

/** What to do about due deliveries. */
export interface DeliveryChoice {
  readonly start: readonly Delivery[];
  /** Number of the last delivery that was considered, started or skipped; undefined when none was. */
  readonly last: number | undefined;
  /** Whether more requests may run. */
  readonly hasRoom: boolean;
}

/**
 * Which deliveries to start. Repeated attempts may be half of all requests and no more. The others are served in the
 * order of their numbers, however many events each has. One origin also gets at most half of all requests, however many
 * webhooks it has, so that a slow origin does not delay the others.
 */
export function chooseDeliveries(
  { fresh, retries }: DueDeliveries,
  { running, maxConcurrent }: SenderState,
): DeliveryChoice {
  const half = Math.ceil(maxConcurrent / 2);
  const busy = new Set(running.map(({ number }) => number));
  const atOrigin = new Map<string, number>();
  const start: Delivery[] = [];
  let places = maxConcurrent;
  let retryPlaces = half;
  let last: number | undefined;

  function occupy(delivery: Delivery): void {
    const origin = originOf(delivery);
    atOrigin.set(origin, (atOrigin.get(origin) ?? 0) + 1);
    places -= 1;
    if (delivery.attempts > 0) retryPlaces -= 1;
  }

  function consider(delivery: Delivery): void {
    if (busy.has(delivery.number) || (atOrigin.get(originOf(delivery)) ?? 0) >= half) return;
    start.push(delivery);
    occupy(delivery);
  }

  for (const delivery of running) occupy(delivery);
  for (const delivery of retries) {
    if (places > 0 && retryPlaces > 0) consider(delivery);
  }
  for (const delivery of fresh) {
    if (places <= 0) break;
    consider(delivery);
    last = delivery.number;
  }
  return { start, last, hasRoom: places > 0 };
}

function originOf({ config: { url } }: Delivery): string {
  return URL.parse(url)?.origin ?? url;
}
