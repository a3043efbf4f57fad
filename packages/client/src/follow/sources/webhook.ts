import { isSettled } from "@a2a-connect/core";
import { callUnawaited, stateOf } from "@a2a-connect/core/internal";
import type { StreamResponse } from "@a2a-connect/proto";
import type { ClientContext } from "../../client-context.ts";
import { createPushConfig } from "../../send/send-request.ts";
import type { Observation } from "../observation.ts";
import type { PushDelivery, PushSubscription } from "./push-receiver.ts";
import { sendImmediately } from "./send.ts";
import type { NumberedResponse, Source } from "./source.ts";

/** Time between two looks at a task whose webhook stays silent. */
const safetyPollMs = 30_000;

/** Agents deliver a task's creation at once. After this time without it, webhooks do not reach the client. */
const firstDeliveryMs = 5_000;

/** SendMessage with a webhook for its task. @throws Error when there is no receiver */
export function sendByWebhook(
  context: ClientContext,
  observation: Observation,
  key: string | undefined,
): Source {
  const receiver = observation.sending?.push;
  if (receiver === undefined) {
    throw new Error("this cannot be: there is no receiver of webhooks");
  }
  return new WebhookSource(context, observation, key, receiver.open());
}

/**
 * Sends the message. Then its responses are the delivered ones, which are the same as in a stream. After 30 s without
 * one it fetches the task, and ends when something was not delivered.
 */
class WebhookSource implements Source {
  readonly #context: ClientContext;
  readonly #observation: Observation;
  readonly #key: string | undefined;
  readonly #subscription: PushSubscription;
  readonly #deliveries: AsyncIterator<PushDelivery>;
  #next: Promise<IteratorResult<PushDelivery>> | undefined;

  constructor(
    context: ClientContext,
    observation: Observation,
    key: string | undefined,
    subscription: PushSubscription,
  ) {
    this.#context = context;
    this.#observation = observation;
    this.#key = key;
    this.#subscription = subscription;
    this.#deliveries = subscription.deliveries[Symbol.asyncIterator]();
  }

  async read(): Promise<NumberedResponse | undefined> {
    const { tracker } = this.#observation;
    if (tracker.taskId === undefined) {
      const message = await this.#send();
      if (message !== undefined) {
        return message;
      }
    }
    // A task that has settled already needs no waiting.
    while (this.#next !== undefined) {
      const arrived = await this.#untilLate(tracker.task === undefined ? firstDeliveryMs : safetyPollMs);
      if (arrived === undefined && !(await this.#hasMissed())) {
        continue;
      }
      if (arrived === undefined || arrived.done === true) {
        return undefined;
      }
      this.#next = this.#deliveries.next();
      const { response, eventId: id } = arrived.value;
      if (taskIdOf(response) === tracker.taskId) {
        const { inspect } = this.#context.options;
        if (inspect !== undefined) {
          const { inspectContent } = await import("../../on-demand.ts");
          await inspectContent(response, inspect);
        }
        return { response, id };
      }
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#next?.catch(() => {}); // no longer waited for
    callUnawaited(() => this.#deliveries.return?.());
    this.#subscription[Symbol.dispose]();
  }

  /** The answer, if it is a direct Message. */
  async #send(): Promise<NumberedResponse | undefined> {
    const webhook = createPushConfig(this.#subscription.config);
    const payload = await sendImmediately(this.#context, this.#observation, this.#key, webhook);
    if (payload.case === "message") {
      return { response: { $typeName: "lf.a2a.v1.StreamResponse", payload }, id: undefined };
    }
    const task = payload.value;
    this.#observation.tracker.expect(task.id);
    await this.#observation.sending?.onTaken?.(task);
    this.#next = isSettled(stateOf(task)) ? undefined : this.#deliveries.next();
    return undefined;
  }

  /** The next delivery; undefined when none came in time. */
  async #untilLate(limitMs: number): Promise<IteratorResult<PushDelivery> | undefined> {
    const arrived = new AbortController();
    const { signal } = this.#observation;
    const timer = this.#context.settings.clock.sleep(limitMs, AbortSignal.any([signal, arrived.signal]));
    try {
      return await Promise.race([this.#next, timer.then(() => undefined)]);
    } finally {
      timer.catch(() => {}); // no longer waited for
      arrived.abort();
    }
  }

  async #hasMissed(): Promise<boolean> {
    const { rpc, settings } = this.#context;
    const { headers, signal, tracker } = this.#observation;
    const { taskId: id = "" } = tracker;
    try {
      return tracker.isBehind(
        await rpc.getTask({ id }, { headers, signal, timeoutMs: settings.requestTimeoutMs }),
      );
    } catch {
      signal.throwIfAborted();
      return true; // following the task will tell the cause
    }
  }
}

function taskIdOf({ payload }: StreamResponse): string | undefined {
  switch (payload.case) {
    case "task":
      return payload.value.id;
    case "statusUpdate":
    case "artifactUpdate":
      return payload.value.taskId;
    default:
      return undefined;
  }
}
