import { lifecycleExtension } from "@a2a-connect/core";
import type { AgentCard } from "@a2a-connect/proto";
export function readLifecycleParams(card: AgentCard): { readonly asks?: boolean; readonly idempotencyKeys?: boolean } | undefined {
  return card.capabilities?.extensions.find(({ uri }) => uri === lifecycleExtension)?.params as { asks?: boolean; idempotencyKeys?: boolean } | undefined;
}
