import type { AgentCard } from "@a2a-connect/proto";
import type { CardExpectation } from "../options.ts";
export async function checkExpectation(_card: AgentCard, _expect: CardExpectation): Promise<void> {}
