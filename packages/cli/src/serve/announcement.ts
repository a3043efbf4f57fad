import { isLoopbackHost } from "@a2a-connect/core/internal";
import type { ServedAgent } from "@a2a-connect/node";
import type { AgentCard } from "@a2a-connect/proto";
import { thumbprintOf } from "@a2a-connect/signing";
import { findLegacyWarnings } from "@a2a-connect/signing/internal";
import type { Output } from "../output.ts";
import type { ServedSigning } from "./card-signing.ts";

/** An agent that can be reached by now. */
export type AnnouncedAgent = Pick<ServedAgent, "url" | "card">;

/** What is said beside the agents. */
export interface AnnouncementOptions {
  /** To be copied. */
  readonly commands: readonly string[];
  /** Where several agents are listed. */
  readonly catalog?: string;
  /** How the cards are signed, and where they are. */
  readonly signing?: (ServedSigning & SignedPlace) | undefined;
}

/** Says in text where agents are served, and which commands to try. */
export async function announce(
  output: Output,
  agents: readonly AnnouncedAgent[],
  { commands, catalog, signing }: AnnouncementOptions,
): Promise<void> {
  for (const { url, card } of agents) {
    await output.field("Agent", card.name);
    await output.field("Agent Card", `${url}/.well-known/agent-card.json`);
  }
  await output.field("Catalog", catalog);
  const cards = agents.map(({ card }) => card);
  if (signing !== undefined) await announceSigning(output, signing, signing, cards);
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

/** Whether a name or an address, of `--host` or as a URL has it, is this machine for itself. */
function isThisMachine(host: string): boolean {
  return host === "::1" || isLoopbackHost(host);
}
