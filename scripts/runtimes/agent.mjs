// The agent that each runtime serves.

import { createAgentServer, defineAgent } from "@a2a-connect/server";
import { toFetchHandler } from "@a2a-connect/server/mount";

export const agent = defineAgent({
  card: { name: "Counter" },
  async *execute(turn) {
    if (turn.text === "ask") return yield turn.inputRequired("How far?");
    yield turn.artifact({ name: "numbers", text: "1" });
    for (const number of [2, 3]) yield turn.append("artifact-1", String(number));
  },
});

export function createHandler() {
  return toFetchHandler(createAgentServer({ agent }), { open: true });
}
