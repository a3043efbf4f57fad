import { escapeInvisible } from "@a2a-connect/core/internal";
import { CardTextError, canonicalCard } from "@a2a-connect/signing";
import { CliError } from "../cli-error.ts";
import type { TextSink } from "../cli-io.ts";
import type { CommandContext } from "../context.ts";
import { readCardSource } from "./card-source.ts";
import { describeNotJson } from "./odd-text.ts";

/**
 * Prints what the signatures of a card are made over (spec §8.4.1): its canonical bytes, and nothing else.
 *
 * @throws CliError CARD_INVALID for what has no canonical form
 */
export async function printCanonical(context: CommandContext, reference: string | undefined): Promise<void> {
  const { text, name } = await readCardSource(context, reference);
  await writeExactly(
    context.io.stdout,
    canonicalOrThrow(() => canonicalCard(text), name, text),
  );
}

/** @throws CliError CARD_INVALID in the place of a CardTextError */
export function canonicalOrThrow(make: () => string, name: string, text: string): string {
  try {
    return make();
  } catch (error) {
    if (error instanceof CardTextError) throw noCanonicalForm(error, name, text);
    throw error;
  }
}

/** Says why a card cannot be signed, or compared; of what is no JSON, what it looks like. */
export function noCanonicalForm(error: CardTextError, name: string, text: string): CliError {
  const odd = error.fault === "not-json" ? describeNotJson(text) : undefined;
  if (odd !== undefined) {
    return new CliError("A2ACLI_ERR_CARD_INVALID", `${name} ${odd.problem} (${error.fault})`, {
      hint: odd.hint,
      cause: error,
    });
  }
  return new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    `${name} has no canonical form: ${error.message} (${error.fault})`,
    { hint: "a card that can be signed is one JSON object that everybody reads the same way", cause: error },
  );
}

/** JSON, byte for byte. At a terminal, what that might act upon is escaped, which leaves the value the same. */
export async function writeExactly(stdout: TextSink, json: string): Promise<void> {
  await stdout.write(stdout.isTerminal ? escapeInvisible(json) : json);
}
