import { formatMessage } from "@a2a-connect/core/internal";
import type { ServedAgent, ServedAgents } from "@a2a-connect/node";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { findLegacyWarnings, thumbprintOf } from "@a2a-connect/signing";
import type { Output } from "../output.ts";
import type { ServedSigning } from "./card-signing.ts";

/** How the cards are signed, and where they are. */
type AnnouncedSigning = ServedSigning & SignedPlace;

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

/** Where signed cards are served. */
export interface SignedPlace {
  /** Where the server listens, as a URL of this machine where that is open to the network. */
  readonly url: string;
  /** Where callers reach it; undefined: nobody has said it. */
  readonly publicUrl: string | undefined;
  /** What `--host` names; undefined: this machine alone. */
  readonly host: string | undefined;
}

/**
 * Says where the key set is and which keys are in it, and warns of cards that cannot be verified from elsewhere, or that the
 * verifiers in use refuse.
 */
async function announceSigning(
  output: Output,
  { keys }: ServedSigning,
  place: SignedPlace,
  cards: readonly AgentCard[],
): Promise<void> {
  await output.field("Key Set", `${place.publicUrl ?? place.url}/.well-known/jwks.json`);
  for (const { key, retiredUntil } of keys) {
    const thumbprint = `thumbprint ${await thumbprintOf(key)}`;
    await (retiredUntil === undefined
      ? output.field("Signing Key", `${key.kid}${key.alg === undefined ? "" : `, ${key.alg}`}, ${thumbprint}`)
      : output.field("Retired Key", `${key.kid}, until ${retiredUntil.toISOString()}, ${thumbprint}`));
  }
  const warning = findPlaceFault(place);
  if (warning !== undefined) await output.warn(warning);
  for (const card of cards) {
    // What is raw is served canonical, and the Python of before that wrote otherwise has few users left.
    for (const sentence of findLegacyWarnings(card, ["js-1"])) {
      await output.warn(cards.length === 1 ? sentence : `${card.name}: ${sentence}`);
    }
  }
}

/** Why callers cannot verify what is served there. */
function findPlaceFault({ url, publicUrl, host }: SignedPlace): string | undefined {
  if (
    publicUrl === undefined &&
    host !== undefined &&
    !isThisMachine(host) &&
    isThisMachine(new URL(url).hostname)
  ) {
    return `the signed card says that agent and keys are at ${url}, which is this machine for everybody who reads it: say where callers reach it with --public-url https://…`;
  }
  const { protocol, hostname } = new URL(publicUrl ?? url);
  return protocol === "https:" || isThisMachine(hostname)
    ? undefined
    : "the signed card does not say where its keys are, because verifiers ask for key sets by https only: serve it by https and say so with --public-url, or give callers the key";
}

/** Whether a name or an address is this machine for itself. */
function isThisMachine(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[?::1\]?)$/i.test(host);
}
