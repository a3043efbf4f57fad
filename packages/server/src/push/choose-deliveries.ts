import type { Delivery, DueDeliveries } from "../store/task-store.ts";

/** What a sender knows when it chooses. */
export interface SenderState {
  /** Under way when the store was asked. */
  readonly running: readonly Delivery[];
  /** How many may be under way. */
  readonly maxConcurrent: number;
}

/** What is done about due deliveries. */
export interface DeliveryChoice {
  readonly start: readonly Delivery[];
  /** Number of the delivery whose turn was last, started or passed over; undefined when no turn was given. */
  readonly last: number | undefined;
  /** Whether places are left. */
  readonly hasRoom: boolean;
}

/**
 * Which deliveries to start. Further attempts take the places that are theirs, half of all and no more; the others take
 * turns, whatever is waiting behind each of them. Half of the places is also all that one origin gets, however many
 * webhooks it has: a slow one does not keep the others waiting.
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
