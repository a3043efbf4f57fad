import { formatMessage } from "@a2a-connect/core";
import type { ServedAgent } from "@a2a-connect/node";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { Output } from "../output/output.ts";

/** Says where an agent is served: fields and commands to copy in text, its card in JSON. */
export async function announce(
  output: Output,
  { url, card }: Pick<ServedAgent, "url" | "card">,
  commands: readonly string[],
): Promise<void> {
  await output.document(formatMessage(AgentCardSchema, card));
  await output.field("Agent", card.name);
  await output.field("Agent Card", `${url}/.well-known/agent-card.json`);
  await output.block("Commands to try", commands.join("\n"));
  await output.note("Ctrl-C stops it");
}
