import { type A2AErrorReason, a2aError, type MethodLocalName } from "@a2a-connect/core";
import type { AgentCapabilities } from "@a2a-connect/proto";
import type { Gate } from "./gate.ts";

type Capability = Exclude<keyof AgentCapabilities, "extensions" | "$typeName" | "$unknown">;

/** Which capability an operation needs, and the error without it (spec §3.3.4). The others need none. */
const needs: Readonly<Partial<Record<MethodLocalName, readonly [Capability, A2AErrorReason]>>> = {
  sendStreamingMessage: ["streaming", "UNSUPPORTED_OPERATION"],
  subscribeToTask: ["streaming", "UNSUPPORTED_OPERATION"],
  createTaskPushNotificationConfig: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  getTaskPushNotificationConfig: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  listTaskPushNotificationConfigs: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  deleteTaskPushNotificationConfig: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  getExtendedAgentCard: ["extendedAgentCard", "UNSUPPORTED_OPERATION"],
};

/** Refuses operations whose capability the card does not declare. */
export function capabilityGate(capabilities: AgentCapabilities): Gate {
  return ({ method }) => {
    const need = needs[method.localName];
    if (need !== undefined && capabilities[need[0]] !== true) {
      throw a2aError(need[1], `the agent card does not declare the capability "${need[0]}"`);
    }
  };
}
