import { escapeInvisible } from "@a2a-connect/core/internal";
import { CardTextError, canonicalCard, canonicalSignedCard, SigningError } from "@a2a-connect/signing";
import type { FoundCard } from "../agent/open-agent.ts";
import { readCardInput } from "../agent/reference.ts";
import { CliError } from "../cli-error.ts";
import type { TextSink } from "../cli-io.ts";
import type { CommandContext } from "../context.ts";
import { withoutOlderMembers } from "./older-card.ts";

/** Prints what the signatures of a card are made over (spec §8.4.1): its canonical bytes, and nothing else. */
export async function printCanonical(context: CommandContext, reference: string | undefined): Promise<void> {
  const { text, name } = await readCardSource(context, reference);
  const canonical = await explained(name, () => canonicalCard(textToSign(text)));
  await writeExactly(context.io.stdout, canonical);
}

/**
 * The text of a card without the members of A2A 0.3 that it has for older callers: a signature is over the card of 1.0. Verifiers
 * of 1.0 drop members that they do not know, and would find another card than was signed. @throws CardTextError
 */
export function textToSign(text: string): string {
  const current = withoutOlderMembers(JSON.parse(canonicalSignedCard(text)));
  return current === undefined ? text : JSON.stringify(current);
}

/** What `work` makes of a card. @throws CliError CARD_INVALID, in words that people can act upon, when the card does not allow it */
export async function explained<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof CardTextError) {
      const message = `${name} has no canonical form: ${cause.message} (${cause.fault})`;
      const hint = "a signed card must be one JSON object that every reader understands in the same way";
      throw new CliError("A2ACLI_ERR_CARD_INVALID", message, { hint, cause });
    }
    if (!(cause instanceof SigningError)) throw cause;
    const { message, hint } = cause;
    throw new CliError("A2ACLI_ERR_CARD_INVALID", `${name}: ${message}`, { hint, cause });
  }
}

/** JSON, byte for byte. At a terminal, what that might act upon is escaped, which leaves the value the same. */
export async function writeExactly(stdout: TextSink, json: string): Promise<void> {
  await stdout.write(stdout.isTerminal ? escapeInvisible(json) : json);
}

/** The text of a card, byte for byte, and what is known of it beside. */
export interface CardSource extends Pick<FoundCard, "text" | "url" | "asked"> {
  /** Where it came from, for people. */
  readonly name: string;
  /** What holds for this agent; undefined when it is none that could be called. */
  readonly settings: FoundCard["settings"] | undefined;
}

/**
 * A card's text: of a file, of an agent (a URL, a host, a name in `a2a.config.yaml`; default `--agent-card`), or `-`, the standard
 * input. Nothing is asked of it but that it is text.
 */
export async function readCardSource(
  context: CommandContext,
  reference: string | undefined,
): Promise<CardSource> {
  if (reference === "-") {
    const name = "the standard input";
    const text = await readCardInput(context.io.stdin, name, context.signal);
    return { text, url: undefined, asked: undefined, name, settings: undefined };
  }
  const { text, url, asked = url, settings } = await context.receiveCard(reference);
  return { text, url, asked, name: url ?? reference ?? settings.agentCard ?? "", settings };
}
