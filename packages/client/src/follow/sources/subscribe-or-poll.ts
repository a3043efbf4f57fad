import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { ClientContext } from "../../client-context.ts";
import type { Observation } from "../observation.ts";
import { checkTask } from "../task-status.ts";
import { EventStream } from "./event-stream.ts";
import type { Followers } from "./followers.ts";
import { callSource, type Source } from "./source.ts";

/** SubscribeToTask after the last event. */
export function subscribe(context: ClientContext, observation: Observation, followers: Followers): Source {
  const { tracker, headers, signal } = observation;
  const { position, taskId: id = "" } = tracker;
  const method = A2AService.method.subscribeToTask;
  return followers.stream(tracker, signal, () => {
    const cursor = position === undefined ? {} : { [lastEventIdHeader]: String(position) };
    return new EventStream(context, {
      method,
      request: create(method.input, { id }),
      headers: { ...headers, ...cursor },
    });
  });
}

/** GetTask, unless another follower got the task by a later poll than number `after`. */
export function poll(
  { rpc, settings }: ClientContext,
  { tracker, headers, signal }: Observation,
  followers: Followers,
  after: number,
): Source {
  const { taskId: id = "" } = tracker;
  const { requestTimeoutMs: timeoutMs } = settings;
  return callSource(async () => {
    const task = await followers.poll(after, signal, (shared) =>
      rpc.getTask({ id }, { headers, signal: shared, timeoutMs }),
    );
    return { case: "task", value: checkTask(task, id) };
  });
}

/** GetTask of A2A 1.1: the server answers when the task has changed. */
export function longPoll(
  { rpc, settings }: ClientContext,
  { tracker, headers, signal }: Observation,
): Source {
  const { taskId: id = "", position = 0 } = tracker;
  return callSource(async () => {
    const request = { id, currentGeneration: BigInt(position) };
    const task = await rpc.getTask(request, { headers, signal, timeoutMs: settings.idleTimeoutMs });
    return { case: "task", value: checkTask(task, id) };
  });
}
