import { lifecycleExtension } from "@a2a-connect/core";
import type { AgentCard } from "@a2a-connect/proto";

/**
 * What an agent declares about its tasks in the parameters of the lifecycle extension (docs/extensions/lifecycle.md).
 */
export interface LifecycleParams {
  /** Whether it may ask questions during a task. */
  readonly asks?: boolean;
  /** Whether it may ask for credentials. */
  readonly asksForAuth?: boolean;
  readonly reportsProgress?: boolean;
  /** Whether it takes a message once that is sent twice with the same `Idempotency-Key`. */
  readonly idempotencyKeys?: boolean;
  /** How long its questions wait at most. */
  readonly longestWaitSeconds?: number;
}

/** The parameters in a card, without those of an unexpected type; undefined without the extension. */
export function readLifecycleParams(card: AgentCard): LifecycleParams | undefined {
  const extension = card.capabilities?.extensions.find(({ uri }) => uri === lifecycleExtension);
  if (extension === undefined) {
    return undefined;
  }
  const { params = {} } = extension;
  const flags = flagNames.flatMap((name) =>
    typeof params[name] === "boolean" ? [[name, params[name]]] : [],
  );
  const { longestWaitSeconds } = params;
  return {
    ...Object.fromEntries(flags),
    ...(typeof longestWaitSeconds === "number" ? { longestWaitSeconds } : {}),
  };
}

const flagNames = ["asks", "asksForAuth", "reportsProgress", "idempotencyKeys"] as const;

/**
 * Marks, among the extensions of a card, the capability `inputRequired`: some older cards declare it, and 1.0 has no
 * field for it. The agent may ask questions during a task. The client never sends this URI.
 */
export const inputRequiredCapability = "urn:a2a-connect:older-capability:input-required";
