import { formatMessage } from "@a2a-connect/core/internal";
import type { ServedAgent, ServedAgents } from "@a2a-connect/node";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { Output } from "../output.ts";
import { announceSigning, type SignedPlace } from "./announce-signing.ts";
import type { ServedSigning } from "./card-signing.ts";

/** How the cards are signed, and where they are. */
export type AnnouncedSigning = ServedSigning & SignedPlace;

/** Says where an agent is served: fields and commands to copy in text, its card in JSON. */
export async function announce(
  output: Output,
  { url, card }: Pick<ServedAgent, "url" | "card">,
  commands: readonly string[],
  signing?: AnnouncedSigning,
): Promise<void> {
  await output.document(formatMessage(AgentCardSchema, card));
  await announceAgent(output, { url, card });
  if (signing !== undefined) await announceSigning(output, signing, signing, [card]);
  await announceCommands(output, commands);
}

/** The same for several: in JSON their cards by their names. */
export async function announceAll(
  output: Output,
  { url, agents }: Pick<ServedAgents, "url" | "agents">,
  commands: readonly string[],
  signing?: AnnouncedSigning,
): Promise<void> {
  const cards = Object.entries(agents).map(([name, { card }]) => [
    name,
    formatMessage(AgentCardSchema, card),
  ]);
  await output.document({ agents: Object.fromEntries(cards) });
  for (const agent of Object.values(agents)) {
    await announceAgent(output, agent);
  }
  await output.field("Catalog", `${url}/.well-known/ai-catalog.json`);
  if (signing !== undefined) {
    await announceSigning(
      output,
      signing,
      signing,
      Object.values(agents).map(({ card }) => card),
    );
  }
  await announceCommands(output, commands);
}

async function announceAgent(
  output: Output,
  { url, card }: Pick<ServedAgent, "url" | "card">,
): Promise<void> {
  await output.field("Agent", card.name);
  await output.field("Agent Card", `${url}/.well-known/agent-card.json`);
}

async function announceCommands(output: Output, commands: readonly string[]): Promise<void> {
  await output.block("Commands to try", commands.join("\n"));
  await output.note("Ctrl-C stops it");
}
