import type { SendMessageRequest, Task } from "@a2a-connect/proto";
import type { FollowOptions, SendOptions } from "../call-options.ts";
import type { ClientContext } from "../client-context.ts";
import { choosePollInterval } from "./poll-schedule.ts";
import type { PushReceiver } from "./sources/push-receiver.ts";
import { TaskTracker } from "./task-tracker.ts";
import { WakeUp } from "./wake-up.ts";

/** A task to observe, from its message on or from where it is, and how far it has been seen. */
export interface Observation {
  readonly tracker: TaskTracker;
  readonly until: "settled" | "terminal";
  readonly headers: Readonly<Record<string, string>>;
  readonly pollIntervalMs: number;
  readonly signal: AbortSignal;
  /** Ends waits between two attempts. */
  readonly wakeUp: WakeUp;
  /** The message that begins, or goes on with, the task; undefined for a task that is only followed. */
  readonly sending: Sending | undefined;
}

/** A message to send. */
export interface Sending {
  readonly request: SendMessageRequest;
  readonly options: Pick<SendOptions, "skill" | "idempotencyKey">;
  readonly push?: PushReceiver | undefined;
  /** Called with the task when its message was taken and no event of it has come yet. */
  readonly onTaken?: (task: Task) => Promise<void>;
}

/** What to observe, without what follows from the options. */
type Observed = Pick<Observation, "until" | "signal"> &
  ({ readonly sending: Sending } | { readonly taskId: string });

/** An observation by the caller's options; nothing is sent before it is observed. */
export function createObservation(
  { settings }: Pick<ClientContext, "settings">,
  options: FollowOptions,
  observed: Observed,
): Observation {
  const { until, signal } = observed;
  const sending = "sending" in observed ? observed.sending : undefined;
  const isNew = sending !== undefined && sending.request.message?.taskId === "";
  // No event of a new task is known.
  const tracker = new TaskTracker(options.after ?? (isNew ? 0 : undefined), settings.maxTaskBytes);
  if ("taskId" in observed) {
    tracker.expect(observed.taskId);
  }
  return {
    tracker,
    until,
    signal,
    sending,
    headers: options.headers ?? {},
    pollIntervalMs: choosePollInterval(options, settings.onWarning),
    wakeUp: new WakeUp(),
  };
}
