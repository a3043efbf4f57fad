import type { ReceivedCard } from "@a2a-connect/client";
import { a2aError } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { FoundCard } from "../agent/receive-card.ts";
import { resolveCardReference } from "../agent/reference.ts";
import {
  type CardTrust,
  findCardTrust,
  requireTrusted,
  type TrustSettings,
  trustKeys,
} from "../agent/trust.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { parseJson } from "../json.ts";
import { findOlderCard } from "./older-card.ts";
import { renderCard } from "./render-card.ts";

/** The options that `card get` has beside those of every command that talks to an agent. */
export interface GetCardFlags {
  readonly validate?: boolean;
  readonly extended?: boolean;
  /** Keys that have to have signed the card, in place of `--card-key`. */
  readonly key?: readonly string[];
}

/**
 * Prints an agent's card: in words, or its JSON as it was received (a card of an older protocol as the 1.0 card that it was
 * read as). Where a key is known its signatures are verified, and a card that is not verified is shown all the same; the exit
 * code is 1 then.
 *
 * @throws CliError CARD_INVALID with `--validate`, naming every problem
 */
export async function getCard(
  context: CommandContext,
  reference: string | undefined,
  { validate = false, extended = false, key }: GetCardFlags,
): Promise<void> {
  const { output } = context;
  if (key !== undefined) context.needReader();
  const found = extended
    ? await receiveExtendedCard(context, reference, key)
    : await context.receiveCard(reference);
  if (validate) await requireValid(context, found.text);
  const card = await found.read();
  const trust = await findTrust(context, found.settings, key);
  const verification = await trust?.verify(found.text);
  if (trust !== undefined) context.needReader();
  if (verification?.verified === false) context.exitWith(1);
  await renderCard(output, card, verification);
  await output.document(toJson(found.text, card));
  if (validate) await output.field("Valid", "yes");
  if (verification?.verified === false) {
    await output.warn(`the card is not verified. ${verification.message}`);
  }
}

function findTrust(
  { io }: CommandContext,
  settings: TrustSettings,
  key: readonly string[] | undefined,
): Promise<CardTrust | undefined> {
  return key === undefined ? findCardTrust(settings, io) : trustKeys(key, settings.cardProfiles, io);
}

/** The JSON that was received; there were no supportedInterfaces before 1.0. */
function toJson(text: string, card: AgentCard): JsonValue {
  const json: unknown = JSON.parse(text);
  return typeof json === "object" && json !== null && "supportedInterfaces" in json
    ? (json as JsonValue) // it came out of JSON.parse
    : formatMessage(AgentCardSchema, card);
}

/** The extended card, and only when both cards are verified by the key that is known. */
async function receiveExtendedCard(
  context: CommandContext,
  reference: string | undefined,
  key: readonly string[] | undefined,
): Promise<FoundCard> {
  const { io, settings: own, settingsFor, signal } = context;
  const named = await resolveCardReference(reference ?? own.agentCard, io);
  const settings = settingsFor(named.kind === "url" ? named.entry : undefined);
  const trust = key === undefined ? undefined : await trustKeys(key, settings.cardProfiles, io);
  const judge = trust === undefined ? undefined : requireTrusted(trust, undefined);
  let received: ReceivedCard | undefined;
  const agent = await context.openAgent({
    reference,
    verifyCard: async (card) => {
      await judge?.(card);
      received = card; // the last one is the extended card
    },
  });
  if (agent.card.capabilities?.extendedAgentCard !== true) {
    throw a2aError(
      "UNSUPPORTED_OPERATION",
      `${agent.card.name} has no extended card (capabilities.extendedAgentCard)`,
    );
  }
  const card = await agent.getExtendedCard({ signal });
  const text = received?.text ?? JSON.stringify(formatMessage(AgentCardSchema, card));
  return { text, url: received?.url, asked: undefined, settings, read: () => card };
}

/**
 * What is wrong with a card by the schema of A2A 1.0, each problem with its path. Members that the schema does not
 * have count as problems here, as they do for the A2A compatibility kit (requirement L-7): they are mostly typos, or fields of
 * an older version.
 */
async function findProblems(text: string): Promise<readonly string[]> {
  const card = parseJson(text);
  if (card === undefined) return ["the card is not JSON"];
  const { findDefects, isOlderMember } = await import("@a2a-connect/conformance");
  const older = findOlderCard(card);
  // A card may be one for both versions.
  const defects = findDefects(
    AgentCardSchema,
    card,
    (defect) => older === undefined && isOlderMember(defect),
  );
  const problems = defects.map(({ kind, path, problem }) => {
    if (kind === "unknown") return `${path} is not a field of A2A 1.0`;
    return kind === "missing" ? `${path} is missing` : `${path === "" ? "the card" : path} ${problem}`;
  });
  if (older === undefined || problems.length === 0) return problems;
  const version = older.version === "" ? "" : ` (${older.version})`;
  // Why there are so many problems, before the problems.
  return [
    `the card is of an older version of A2A${version}, by its fields ${older.members.join(", ")}`,
    ...problems,
  ];
}

async function requireValid({ output }: CommandContext, text: string): Promise<void> {
  const problems = await findProblems(text);
  if (problems.length === 0) return;
  for (const problem of problems) await output.field("Problem", problem);
  const { maxDefects } = await import("@a2a-connect/conformance");
  const isAll = problems.length < maxDefects;
  const count = `${problems.length} problem${problems.length === 1 ? "" : "s"}${isAll ? "" : ", and more are not looked for"}`;
  throw new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    // In text the problems have just been told.
    `the card does not fit the schema of A2A 1.0: ${output.format === "json" ? problems.join("; ") : count}`,
    {
      hint: "https://a2a-protocol.org/latest/specification/ lists the fields under AgentCard",
    },
  );
}
