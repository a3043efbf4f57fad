import { a2aError, formatMessage } from "@a2a-connect/core";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
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
  const { card, json } = extended
    ? await receiveExtendedCard(context, reference)
    : readReceived(await context.receiveCard(reference));
  if (validate) {
    await requireValid(context, json);
  }
  await renderCard(output, card);
  await output.document(json);
  if (validate) {
    await output.field("Valid", "yes");
  }
}

type CardInHand = Pick<Awaited<ReturnType<CommandContext["receiveCard"]>>, "card"> & {
  readonly json: JsonValue;
};

function readReceived({ card, text }: Awaited<ReturnType<CommandContext["receiveCard"]>>): CardInHand {
  const json: unknown = text === "" ? undefined : JSON.parse(text);
  // What the client has read as a card is JSON; before 1.0 there were no supportedInterfaces.
  return isCurrent(json)
    ? { card, json: json as JsonValue }
    : { card, json: formatMessage(AgentCardSchema, card) };
}

function isCurrent(json: unknown): boolean {
  return typeof json === "object" && json !== null && "supportedInterfaces" in json;
}

async function receiveExtendedCard(
  context: CommandContext,
  reference: string | undefined,
): Promise<CardInHand> {
  const agent = await context.openAgent({ reference });
  if (agent.card.capabilities?.extendedAgentCard !== true) {
    throw a2aError(
      "UNSUPPORTED_OPERATION",
      `${agent.card.name} has no extended card (capabilities.extendedAgentCard)`,
    );
  }
  const card = await agent.getExtendedCard({ signal: context.signal });
  return { card, json: formatMessage(AgentCardSchema, card) };
}

async function requireValid({ output }: CommandContext, json: JsonValue): Promise<void> {
  const { findCardProblems } = await import("./card-problems.ts");
  const problems = findCardProblems(json);
  if (problems.length === 0) {
    return;
  }
  for (const problem of problems) {
    await output.field("Problem", problem);
  }
  throw new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    `the card does not fit the schema of A2A 1.0: ${problems.join("; ")}`,
    {
      hint: "every name is in https://a2a-protocol.org/latest/specification/ under AgentCard",
    },
  );
}
