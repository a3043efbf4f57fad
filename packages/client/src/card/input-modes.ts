import type { AgentCard, Part } from "@a2a-connect/proto";
export function checkInputModes(_card: AgentCard, _parts: readonly Part[], _skillId?: string): void {}
