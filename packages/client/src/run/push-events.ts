import type { StreamResponse } from "@a2a-connect/proto";
import type { Connection } from "../connection.ts";
import { type Following, followEvents, isOver } from "../follow/follow-events.ts";
import { EventGapError } from "../follow/task-tracker.ts";
import type { Sending } from "../send/send-and-follow.ts";
import { sendOnce } from "../send/send-once.ts";
import { createPushConfig } from "../send/send-request.ts";
import type { PushDelivery, PushReceiver } from "./push-receiver.ts";

/** Between two looks at a task whose webhook stays silent. */
export const safetyPollMs = 30_000;

/**
 * Sends a message with a webhook for its task, and gives the events as they are delivered: those, and in that order, that a
 * stream would have. Every 30 s without one the task is asked for; if something has not been delivered, or events are
 * missing in between, the rest is followed without the webhook.
 *
 * @throws as `sendOnce` and `followEvents`
 */
export async function* sendAndListen(
  connection: Connection,
  sending: Sending,
  receiver: PushReceiver,
): AsyncGenerator<StreamResponse, void> {
  const { tracker, headers, signal, key } = sending;
  using subscription = receiver.open();
  const request = withWebhook(sending, subscription.config);
  const timeoutMs = connection.settings.requestTimeoutMs;
  const { payload } = await sendOnce(connection, request, { headers, signal, key, timeoutMs });
  if (payload.case !== "task") {
    yield { $typeName: "lf.a2a.v1.StreamResponse", payload };
    return;
  }
  const taskId = payload.value.id;
  const following = { ...sending, taskId };
  const deliveries = subscription.deliveries[Symbol.asyncIterator]();
  try {
    let delivery = deliveries.next();
    while (!isOver(following)) {
      const arrived = await nextDelivery(delivery, connection, signal);
      if (arrived === undefined) {
        if (await hasMissed(connection, following)) {
          break;
        }
        continue;
      }
      if (arrived.done === true) {
        break;
      }
      delivery = deliveries.next();
      if (taskIdOf(arrived.value) === taskId) {
        await connection.inspectDelivery(arrived.value.response);
        const events = acceptDelivery(following, arrived.value);
        if (events === undefined) {
          break;
        }
        yield* events;
      }
    }
  } finally {
    void deliveries.return?.();
  }
  if (!isOver(following)) {
    tracker.position ??= tracker.task === undefined ? 0 : undefined;
    yield* followEvents(connection, following);
  }
}

function withWebhook(
  { request }: Sending,
  config: Parameters<typeof createPushConfig>[0],
): Sending["request"] {
  return {
    ...request,
    configuration: {
      $typeName: "lf.a2a.v1.SendMessageConfiguration",
      acceptedOutputModes: [],
      ...request.configuration,
      returnImmediately: true,
      taskPushNotificationConfig: createPushConfig(config),
    },
  };
}

/** The next delivery; undefined when none came in time. */
async function nextDelivery(
  delivery: Promise<IteratorResult<PushDelivery>>,
  { settings: { clock } }: Connection,
  signal: AbortSignal,
): Promise<IteratorResult<PushDelivery> | undefined> {
  const arrived = new AbortController();
  const timer = clock.sleep(safetyPollMs, AbortSignal.any([signal, arrived.signal]));
  try {
    return await Promise.race([delivery, timer.then(() => undefined)]);
  } finally {
    timer.catch(() => {}); // no longer waited for
    arrived.abort();
  }
}

/** Undefined when events are missing before this one. */
function acceptDelivery(
  { tracker }: Following,
  { response, eventId }: PushDelivery,
): readonly StreamResponse[] | undefined {
  try {
    return tracker.accept({ response, id: eventId });
  } catch (error) {
    if (error instanceof EventGapError) {
      return undefined;
    }
    throw error;
  }
}

async function hasMissed({ rpc, settings }: Connection, following: Following): Promise<boolean> {
  const { taskId, headers, signal, tracker } = following;
  try {
    const task = await rpc.getTask({ id: taskId }, { headers, signal, timeoutMs: settings.requestTimeoutMs });
    return tracker.isBehind(task);
  } catch {
    signal.throwIfAborted();
    return true; // whatever it is, following it will tell
  }
}

function taskIdOf({ response: { payload } }: PushDelivery): string | undefined {
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
