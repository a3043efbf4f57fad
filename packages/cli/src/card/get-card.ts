import { a2aError, formatMessage } from "@a2a-connect/core";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { FoundCard } from "../agent/receive-card.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import { renderCard } from "./render-card.ts";

/** The options that `card get` has beside those of every command that talks to an agent. */
export interface GetCardFlags {
  readonly validate?: boolean;
  readonly extended?: boolean;
}

/**
 * Prints an agent's card: in words, or its JSON as it was received (a card of an older protocol as the 1.0 card that it was
 * read as).
 *
 * @throws CliError CARD_INVALID with `--validate`, naming every problem
 */
export async function getCard(
  context: CommandContext,
  reference: string | undefined,
  { validate = false, extended = false }: GetCardFlags,
): Promise<void> {
  const { output } = context;
  const found = extended
    ? await receiveExtendedCard(context, reference)
    : await context.receiveCard(reference);
  if (validate) {
    await requireValid(context, found.text);
  }
  const card = found.read();
  await renderCard(output, card);
  await output.document(toJson(found.text, card));
  if (validate) {
    await output.field("Valid", "yes");
  }
}

/** The JSON that was received; there were no supportedInterfaces before 1.0. */
function toJson(text: string, card: AgentCard): JsonValue {
  const json: unknown = JSON.parse(text);
  return typeof json === "object" && json !== null && "supportedInterfaces" in json
    ? (json as JsonValue) // it came out of JSON.parse
    : formatMessage(AgentCardSchema, card);
}

async function receiveExtendedCard(
  context: CommandContext,
  reference: string | undefined,
): Promise<FoundCard> {
  const agent = await context.openAgent({ reference });
  if (agent.card.capabilities?.extendedAgentCard !== true) {
    throw a2aError(
      "UNSUPPORTED_OPERATION",
      `${agent.card.name} has no extended card (capabilities.extendedAgentCard)`,
    );
  }
  const card = await agent.getExtendedCard({ signal: context.signal });
  return { text: JSON.stringify(formatMessage(AgentCardSchema, card)), read: () => card };
}

async function requireValid({ output }: CommandContext, text: string): Promise<void> {
  const { findCardProblems } = await import("./card-problems.ts");
  const problems = findCardProblems(text);
  if (problems.length === 0) {
    return;
  }
  for (const problem of problems) {
    await output.field("Problem", problem);
  }
  const count = `${problems.length} problem${problems.length === 1 ? "" : "s"}`;
  throw new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    // In text the problems have just been told.
    `the card does not fit the schema of A2A 1.0: ${output.format === "json" ? problems.join("; ") : count}`,
    {
      hint: "every name is in https://a2a-protocol.org/latest/specification/ under AgentCard",
    },
  );
}
