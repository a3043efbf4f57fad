import { CardTextError, canonicalCard } from "@a2a-connect/signing";
import { CliError } from "../cli-error.ts";
import type { TextSink } from "../cli-io.ts";
import type { CommandContext } from "../command-context.ts";
import { escapeUnsafe } from "../output/plain-text.ts";
import { readCardSource } from "./card-source.ts";

/**
 * Prints what the signatures of a card are made over (spec §8.4.1): its canonical bytes, and nothing else.
 *
 * @throws CliError CARD_INVALID for what has no canonical form
 */
export async function printCanonical(context: CommandContext, reference: string | undefined): Promise<void> {
  const { text, name } = await readCardSource(context, reference);
  await writeExactly(
    context.io.stdout,
    canonicalOrThrow(() => canonicalCard(text), name),
  );
}

/** @throws CliError CARD_INVALID in the place of a CardTextError */
export function canonicalOrThrow(make: () => string, name: string): string {
  try {
    return make();
  } catch (error) {
    if (error instanceof CardTextError) throw noCanonicalForm(error, name);
    throw error;
  }
}

/** Says why a card cannot be signed, or compared. */
export function noCanonicalForm(error: CardTextError, name: string): CliError {
  return new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    `${name} has no canonical form: ${error.message} (${error.fault})`,
    { hint: "a card that can be signed is one JSON object that everybody reads the same way", cause: error },
  );
}

/** JSON, byte for byte. At a terminal, what that might act upon is escaped, which leaves the value the same. */
export async function writeExactly(stdout: TextSink, json: string): Promise<void> {
  await stdout.write(stdout.isTerminal ? escapeUnsafe(json) : json);
}
