import { lifecycleExtension } from "@a2a-connect/core";
import type { Task } from "@a2a-connect/proto";
import {
  type EngineHarness,
  readStream,
  reasonOf,
  type StreamReader,
  say,
  taskOf,
} from "@a2a-connect/testing";
import type { JsonObject } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";

type TaskClient = EngineHarness["client"];
type Sent = Parameters<TaskClient["sendMessage"]>[0];

/** A message whose sender does not wait for the work. */
export function detached(...message: Partial<Parameters<typeof say>>) {
  const [content = "go", details] = message;
  return { ...say(content, details), configuration: { returnImmediately: true } };
}

/** What a message says by the lifecycle extension: a skill, a priority, a deadline. */
export function lifecycle(details: JsonObject): { metadata: JsonObject } {
  return { metadata: { [lifecycleExtension]: details } };
}

/** Sends a message and gives the task that it is answered with. */
export async function sendTask(client: TaskClient, request: Sent = say("go"), options: CallOptions = {}) {
  return taskOf(await client.sendMessage(request, options));
}

/** The state of a task as a caller sees it. */
export async function stateOf(client: TaskClient, id: string) {
  return (await client.getTask({ id })).status?.state;
}

/** The state of a task, and the reason that its status tells. */
export function endOf(task: Task) {
  return [task.status?.state, reasonOf(task)];
}

/** Sends a message by a stream and reads it at once. */
export function sendStream(client: TaskClient, request: Sent = say("go")): StreamReader {
  return readStream((signal) => client.sendStreamingMessage(request, { signal }));
}

/** Follows a task and reads at once. */
export function subscribe(
  client: TaskClient,
  id: string,
  headers: Record<string, string> = {},
): StreamReader {
  return readStream((signal) => client.subscribeToTask({ id }, { signal, headers }));
}
