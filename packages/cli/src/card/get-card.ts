import type { ReceivedCard } from "@a2a-connect/client";
import type { Defect } from "@a2a-connect/conformance";
import { a2aError } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { findCardVerifier } from "../agent/card-verifier.ts";
import type { FoundCard } from "../agent/open-agent.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { parseJson, readObject } from "../json.ts";
import { findOlderCard } from "./older-card.ts";
import { renderCard } from "./render-card.ts";

export interface GetCardFlags {
  readonly validate?: boolean;
  readonly extended?: boolean;
  readonly key?: readonly string[];
}

/**
 * Prints an agent's card: in words, or its JSON as it was received (a card of an older protocol as the 1.0 card that it was
 * read as). Where a key is known its signatures are verified, and a card that is not verified is shown all the same; the exit
 * code is 1 then.
 */
export async function getCard(
  context: CommandContext,
  reference: string | undefined,
  { validate = false, extended = false, key }: GetCardFlags,
): Promise<void> {
  const { io, output } = context;
  if (key !== undefined) context.needReader();
  const found = extended
    ? await receiveExtendedCard(context, reference, key)
    : await context.receiveCard(reference);
  if (validate) await requireValid(context, found.text);
  const card = await found.read();
  const verify = await findCardVerifier(found.settings, io, key);
  if (verify !== undefined) context.needReader();
  const verification = await verify?.(found.text);
  const isRefused = verification?.verified === false;
  if (isRefused) context.exitWith(1);
  await renderCard(output, card, verification);
  await output.document(toJson(found.text, card));
  if (validate) await output.field("Valid", "yes");
  if (isRefused) await output.warn(`the card is not verified. ${verification.message}`);
}

/** The JSON that was received; there were no supportedInterfaces before 1.0. */
function toJson(text: string, card: AgentCard): JsonValue {
  const json = readObject(text);
  return "supportedInterfaces" in json
    ? (json as JsonObject) // it was parsed from JSON
    : formatMessage(AgentCardSchema, card);
}

/** The extended card, and only when both cards are verified by the key that is known. */
async function receiveExtendedCard(
  context: CommandContext,
  reference: string | undefined,
  keys: readonly string[] | undefined,
): Promise<FoundCard> {
  const { settings } = await context.locate(reference);
  let received: ReceivedCard | undefined;
  const agent = await context.openAgent({
    reference,
    keys,
    verifyCard: async (card) => {
      received = card; // the last one is the extended card
    },
  });
  if (agent.card.capabilities?.extendedAgentCard !== true) {
    throw a2aError(
      "UNSUPPORTED_OPERATION",
      `${agent.card.name} has no extended card (capabilities.extendedAgentCard)`,
    );
  }
  const card = await agent.getExtendedCard({ signal: context.signal });
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
  const isAllowed = (defect: Defect) => older === undefined && isOlderMember(defect);
  const defects = findDefects(AgentCardSchema, card, isAllowed);
  const problems = defects.map(({ kind, path, problem }) => {
    if (kind === "unknown") return `${path} is not a field of A2A 1.0`;
    return kind === "missing" ? `${path} is missing` : `${path === "" ? "the card" : path} ${problem}`;
  });
  if (older === undefined || problems.length === 0) return problems;
  const version = older.version ? ` (${older.version})` : "";
  const members = older.members.join(", ");
  // Why there are so many problems, before the problems.
  return [`the card has fields of an older version of A2A${version}: ${members}`, ...problems];
}

async function requireValid({ output }: CommandContext, text: string): Promise<void> {
  const problems = await findProblems(text);
  if (problems.length === 0) return;
  await output.fields({ Problem: problems });
  const { maxDefects } = await import("@a2a-connect/conformance");
  const more = problems.length < maxDefects ? "" : ", where a2a stopped counting";
  const count = `${problems.length} problem${problems.length === 1 ? "" : "s"}${more}`;
  // In text the problems have just been told.
  const told = output.format === "json" ? problems.join("; ") : count;
  throw new CliError("A2ACLI_ERR_CARD_INVALID", `the card does not fit the schema of A2A 1.0: ${told}`, {
    hint: "https://a2a-protocol.org/latest/specification/ lists the fields under AgentCard",
  });
}
