import type { AgentCard } from "@a2a-connect/proto";
export function describeChanges(_before: AgentCard, _after: AgentCard): string[] { return []; }
