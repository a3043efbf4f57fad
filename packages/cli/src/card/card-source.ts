import { escapeInvisible } from "@a2a-connect/core/internal";
import { CardTextError, canonicalCard, canonicalSignedCard } from "@a2a-connect/signing";
import type { AgentSettings } from "../agent/agent-settings.ts";
import { maxCardBytes, requireText } from "../agent/reference.ts";
import { CliError } from "../cli-error.ts";
import type { TextSink } from "../cli-io.ts";
import type { CommandContext } from "../context.ts";
import { readInput } from "../files.ts";
import { withoutOlderMembers } from "./older-card.ts";

/**
 * Prints what the signatures of a card are made over (spec §8.4.1): its canonical bytes, and nothing else.
 *
 * @throws CliError CARD_INVALID for what has no canonical form
 */
export async function printCanonical(context: CommandContext, reference: string | undefined): Promise<void> {
  const { text, name } = await readCardSource(context, reference);
  try {
    await writeExactly(context.io.stdout, canonicalCard(textToSign(text)));
  } catch (error) {
    throw error instanceof CardTextError ? noCanonicalForm(error, name) : error;
  }
}

/**
 * The text of a card without the members of A2A 0.3 that it has for older callers: a signature is over the card of 1.0. Verifiers
 * of 1.0 drop members that they do not know, and would find another card than was signed.
 *
 * @throws CardTextError when the card has no canonical form
 */
export function textToSign(text: string): string {
  const current = withoutOlderMembers(JSON.parse(canonicalSignedCard(text)));
  return current === undefined ? text : JSON.stringify(current);
}

/** Says why a card cannot be signed, or compared. */
export function noCanonicalForm(error: CardTextError, name: string): CliError {
  return new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    `${name} has no canonical form: ${error.message} (${error.fault})`,
    { hint: "to be signed, a card must be one JSON object that can be read in one way only", cause: error },
  );
}

/** JSON, byte for byte. At a terminal, what that might act upon is escaped, which leaves the value the same. */
export async function writeExactly(stdout: TextSink, json: string): Promise<void> {
  await stdout.write(stdout.isTerminal ? escapeInvisible(json) : json);
}

/** The text of a card, and what is known of it beside. */
export interface CardSource {
  /** As it was received, byte for byte. */
  readonly text: string;
  /** Where it came from; undefined for a file and the standard input. */
  readonly url: string | undefined;
  /** The address that was asked for it: another one where redirects led from there. */
  readonly asked: string | undefined;
  /** Where it came from, for people. */
  readonly name: string;
  /** What holds for this agent; undefined when it is none that could be called. */
  readonly settings: AgentSettings | undefined;
}

/**
 * A card's text: of a file, of an agent (a URL, a host, a name in `a2a.config.yaml`), or `-`, the standard input. Nothing is
 * asked of it but that it is text.
 *
 * @param reference undefined: `--agent-card`
 * @throws CliError CARD_NOT_FOUND, CARD_INVALID for what is no UTF-8 or too large, USAGE; AgentErrors of the client
 */
export async function readCardSource(
  context: CommandContext,
  reference: string | undefined,
): Promise<CardSource> {
  if (reference === "-") {
    const text = await readStandardInput(context);
    return { text, url: undefined, asked: undefined, name: "the standard input", settings: undefined };
  }
  const { text, url, asked = url, settings } = await context.receiveCard(reference);
  return { text, url, asked, name: url ?? reference ?? settings.agentCard ?? "", settings };
}

/** The text of a card that is piped in. @throws CliError CARD_INVALID */
export async function readStandardInput({ io, signal }: CommandContext): Promise<string> {
  const refuse = (problem: string, hint?: string, cause?: unknown): CliError =>
    new CliError("A2ACLI_ERR_CARD_INVALID", `the standard input ${problem}`, { hint, cause });
  const bytes = await readInput(io.stdin, maxCardBytes, refuse, signal);
  return requireText(bytes, "the standard input");
}
