import type { MethodLocalName } from "@a2a-connect/core";
import { extensionsHeader } from "@a2a-connect/core/internal";
import type { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import type { Forms } from "./forms.ts";

/** How older versions name the extensions of a call. */
export const olderExtensionsHeader: string = `X-${extensionsHeader}`;

/** An operation as older versions call it. */
export interface OlderMethod {
  /** The method of JSON-RPC. */
  readonly name: string;
  /** The method of `a2a.v1.A2AService`. */
  readonly rpc: keyof typeof OlderService.method;
  readonly operation: MethodLocalName;
  /** The form of the request; undefined: it says nothing. */
  readonly request: keyof Forms | undefined;
  /** The form of the answer, or of each event of a stream. */
  readonly response: keyof Forms;
}

/** The operations of A2A 0.3. ListTasks came with 1.0. */
export const olderMethods: readonly OlderMethod[] = [
  {
    name: "message/send",
    rpc: "sendMessage",
    operation: "sendMessage",
    request: "sendMessageRequest",
    response: "payload",
  },
  {
    name: "message/stream",
    rpc: "sendStreamingMessage",
    operation: "sendStreamingMessage",
    request: "sendMessageRequest",
    response: "payload",
  },
  { name: "tasks/get", rpc: "getTask", operation: "getTask", request: "getTaskRequest", response: "task" },
  {
    name: "tasks/cancel",
    rpc: "cancelTask",
    operation: "cancelTask",
    request: "taskRequest",
    response: "task",
  },
  {
    name: "tasks/resubscribe",
    rpc: "taskSubscription",
    operation: "subscribeToTask",
    request: "taskRequest",
    response: "payload",
  },
  {
    name: "tasks/pushNotificationConfig/set",
    rpc: "createTaskPushNotificationConfig",
    operation: "createTaskPushNotificationConfig",
    request: "createPushConfigRequest",
    response: "pushConfig",
  },
  {
    name: "tasks/pushNotificationConfig/get",
    rpc: "getTaskPushNotificationConfig",
    operation: "getTaskPushNotificationConfig",
    request: "pushConfigRequest",
    response: "pushConfig",
  },
  {
    name: "tasks/pushNotificationConfig/list",
    rpc: "listTaskPushNotificationConfig",
    operation: "listTaskPushNotificationConfigs",
    request: "listPushConfigsRequest",
    response: "listPushConfigsResponse",
  },
  {
    name: "tasks/pushNotificationConfig/delete",
    rpc: "deleteTaskPushNotificationConfig",
    operation: "deleteTaskPushNotificationConfig",
    request: "pushConfigRequest",
    response: "nothing",
  },
  {
    name: "agent/getAuthenticatedExtendedCard",
    rpc: "getAgentCard",
    operation: "getExtendedAgentCard",
    request: undefined,
    response: "card",
  },
];
