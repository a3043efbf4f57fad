import type { AgentCard } from "@a2a-connect/proto";
export async function cardDigest(_card: AgentCard): Promise<string> { return ""; }
