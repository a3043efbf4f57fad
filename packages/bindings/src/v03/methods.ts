import type { MethodLocalName } from "@a2a-connect/core";
import type { Forms } from "./forms.ts";

/** An operation as older versions call it. */
export interface OlderMethod {
  /** The method of JSON-RPC. */
  readonly name: string;
  readonly operation: MethodLocalName;
  /** The form of the request; undefined: it says nothing. */
  readonly request: keyof Forms | undefined;
  /** The form of the answer, or of each event of a stream; undefined: there is none. */
  readonly response: keyof Forms | undefined;
}

/** The operations of A2A 0.3. ListTasks came with 1.0. */
export const olderMethods: readonly OlderMethod[] = [
  row("message/send", "sendMessage", "sendMessageRequest", "payload"),
  row("message/stream", "sendStreamingMessage", "sendMessageRequest", "payload"),
  row("tasks/get", "getTask", "getTaskRequest", "task"),
  row("tasks/cancel", "cancelTask", "taskRequest", "task"),
  row("tasks/resubscribe", "subscribeToTask", "taskRequest", "payload"),
  row("tasks/pushNotificationConfig/set", "createTaskPushNotificationConfig", "pushConfig", "pushConfig"),
  row("tasks/pushNotificationConfig/get", "getTaskPushNotificationConfig", "pushConfigRequest", "pushConfig"),
  row(
    "tasks/pushNotificationConfig/list",
    "listTaskPushNotificationConfigs",
    "listPushConfigsRequest",
    "listPushConfigsResponse",
  ),
  row(
    "tasks/pushNotificationConfig/delete",
    "deleteTaskPushNotificationConfig",
    "pushConfigRequest",
    undefined,
  ),
  row("agent/getAuthenticatedExtendedCard", "getExtendedAgentCard", undefined, "card"),
];

function row(
  name: string,
  operation: MethodLocalName,
  request: OlderMethod["request"],
  response: OlderMethod["response"],
): OlderMethod {
  return { name, operation, request, response };
}
