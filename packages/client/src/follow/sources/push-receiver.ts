import type { StreamResponse } from "@a2a-connect/proto";
import type { PushConfigInput } from "../../call-options.ts";

/**
 * Takes an agent's webhooks. Node's is `createPushReceiver` of `@a2a-connect/node/client`.
 *
 * Deliveries come at least once, and in order for each config.
 */
export interface PushReceiver {
  /** A webhook of one run: its address, with a token of its own that every delivery must have. */
  open(): PushSubscription;
}

/** The webhook of one run. */
export interface PushSubscription extends Disposable {
  readonly config: PushConfigInput;
  /** The deliveries, until it is disposed of. They are not tested yet: neither for the task, nor for repeats. */
  readonly deliveries: AsyncIterable<PushDelivery>;
}

/** One notification. */
export interface PushDelivery {
  readonly response: StreamResponse;
  /** The number of its event, if the sender tells it (`x-a2a-event-id`). */
  readonly eventId: number | undefined;
}
