import type { AgentCard } from "@a2a-connect/proto";
import type { AgentRequirements } from "../options.ts";
export function checkRequirements(_card: AgentCard, _requires: AgentRequirements): void {}
