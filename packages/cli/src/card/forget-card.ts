import { cardMemoryKey } from "@a2a-connect/signing/internal";
import { resolveCardReference } from "../agent/card-reference.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { openMemory } from "./known-agent.ts";

/** The options of `card forget`. */
export interface ForgetCardFlags {
  readonly memory: string;
}

/**
 * Takes an agent out of the file of `--memory`: its next card is the first again.
 *
 * @throws CliError USAGE when nothing is remembered of it, or the file cannot be used
 */
export async function forgetCard(
  { io, output }: CommandContext,
  given: string,
  { memory: file }: ForgetCardFlags,
): Promise<void> {
  const reference = await resolveCardReference(given, io);
  const key = reference.kind === "url" ? await cardMemoryKey(reference.url) : undefined;
  if (key === undefined) {
    throw new CliError("A2ACLI_ERR_USAGE", "a card without a URL is not remembered", {
      hint: "name the agent as it was verified: by its URL, its host, or its name in a2a.config.yaml",
    });
  }
  const { memory } = await openMemory(file, io);
  const remembered = await memory.read(key);
  if (remembered === undefined) {
    throw new CliError("A2ACLI_ERR_USAGE", `${file} remembers nothing of ${key}`, {
      hint: "name the agent as it was verified: by its URL, its host, or its name in a2a.config.yaml",
    });
  }
  await memory.forget(key);
  const { thumbprints, firstSeen, lastSeen } = remembered;
  await output.field("Forgotten", key);
  await output.field("Known Since", firstSeen);
  await output.field("Last Seen", lastSeen);
  await output.field("Signed By", thumbprints.join(", "));
  await output.field("Memory", file);
  await output.document({ forgotten: key, firstSeen, lastSeen, thumbprints });
}
