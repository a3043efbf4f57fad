import { isSettled } from "@a2a-connect/core";
import {
  SendMessageConfigurationSchema,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { PushConfigInput } from "../call-options.ts";
import type { Connection } from "../connection.ts";
import { type Following, followEvents, isOver } from "../follow/follow-events.ts";
import { EventGapError } from "../follow/task-tracker.ts";
import { type Sending, sendImmediately } from "../send/send-and-follow.ts";
import { createPushConfig } from "../send/send-request.ts";
import type { PushDelivery, PushReceiver } from "./push-receiver.ts";

/** Time between two looks at a task whose webhook stays silent. */
const safetyPollMs = 30_000;

/** Agents deliver a task's creation at once. After this time without it, webhooks do not reach the client. */
const firstDeliveryMs = 5_000;

/**
 * Sends a message with a webhook for its task, and returns the delivered events: the same events in the same order as
 * in a stream. After 30 s without one it fetches the task. When something was not delivered, or events in between are
 * missing, it follows the rest without the webhook.
 *
 * @param onTaken called with the task as soon as the message was taken
 * @throws as `sendAndFollow` and `followEvents`
 */
export async function* sendAndListen(
  connection: Connection,
  sending: Sending,
  receiver: PushReceiver,
  onTaken: (task: Task) => Promise<void> = async () => {},
): AsyncGenerator<StreamResponse, void> {
  const { tracker, request } = sending;
  using subscription = receiver.open();
  const { payload } = await sendImmediately(connection, sending, withWebhook(request, subscription.config));
  if (payload.case !== "task") {
    yield { $typeName: "lf.a2a.v1.StreamResponse", payload };
    return;
  }
  const task = payload.value;
  tracker.expect(task.id);
  await onTaken(task);
  const following = { ...sending, taskId: task.id };
  // A task that has settled already needs no waiting.
  if (!isSettled(task.status?.state ?? TaskState.UNSPECIFIED)) {
    yield* listen(connection, following, subscription.deliveries);
  }
  if (!isOver(following)) {
    yield* followEvents(connection, following);
  }
}

/** The delivered events, until the task is over, or until the webhook has missed one. */
async function* listen(
  connection: Connection,
  following: Following,
  source: AsyncIterable<PushDelivery>,
): AsyncGenerator<StreamResponse, void> {
  const { tracker, taskId, signal } = following;
  const deliveries = source[Symbol.asyncIterator]();
  try {
    let delivery = deliveries.next();
    while (!isOver(following)) {
      const limitMs = tracker.task === undefined ? firstDeliveryMs : safetyPollMs;
      const arrived = await untilLate(delivery, limitMs, connection, signal);
      if (arrived?.done === true || (arrived === undefined && (await hasMissed(connection, following)))) {
        return;
      }
      if (arrived === undefined) {
        continue;
      }
      delivery = deliveries.next();
      if (taskIdOf(arrived.value) === taskId) {
        await connection.inspectDelivery(arrived.value.response);
        const events = acceptDelivery(following, arrived.value);
        if (events === undefined) {
          return;
        }
        yield* events;
      }
    }
  } finally {
    void deliveries.return?.();
  }
}

function withWebhook(request: SendMessageRequest, config: PushConfigInput): SendMessageRequest {
  const configuration = {
    ...create(SendMessageConfigurationSchema),
    ...request.configuration,
    taskPushNotificationConfig: createPushConfig(config),
  };
  return { ...request, configuration };
}

/** The next delivery; undefined when none came in time. */
async function untilLate(
  delivery: Promise<IteratorResult<PushDelivery>>,
  limitMs: number,
  { settings: { clock } }: Connection,
  signal: AbortSignal,
): Promise<IteratorResult<PushDelivery> | undefined> {
  const arrived = new AbortController();
  const timer = clock.sleep(limitMs, AbortSignal.any([signal, arrived.signal]));
  try {
    return await Promise.race([delivery, timer.then(() => undefined)]);
  } finally {
    timer.catch(() => {}); // no longer waited for
    arrived.abort();
  }
}

/** Undefined when events before this one are missing. */
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
    return true; // following the task will tell the cause
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
