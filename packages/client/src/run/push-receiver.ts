import type { StreamResponse } from "@a2a-connect/proto";
import type { PushConfigInput } from "../call-options.ts";

/**
 * Somebody who takes an agent's webhooks. Node's is `createPushReceiver` of `@a2a-connect/node/client`.
 *
 * Deliveries come at least once, and in order for each config.
 */
export interface PushReceiver {
  /** A webhook of one run: where the agent is to send, with a token of its own that every delivery is checked for. */
  open(): PushSubscription;
}

/** The webhook of one run. */
export interface PushSubscription extends Disposable {
  readonly config: PushConfigInput;
  /** What arrives, until it is disposed of. Not checked yet: neither for the task, nor for repeats. */
  readonly deliveries: AsyncIterable<PushDelivery>;
}

/** One notification. */
export interface PushDelivery {
  readonly response: StreamResponse;
  /** The number of its event, where the sender tells it (`x-a2a-event-id`). */
  readonly eventId: number | undefined;
}
