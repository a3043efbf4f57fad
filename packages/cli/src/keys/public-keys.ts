import type { CommandContext } from "../command-context.ts";
import { formatJsonDocument } from "../output/plain-text.ts";
import { readKeys } from "./given-keys.ts";
import { readKeyText } from "./read-key-text.ts";

/** The options of `keys public`. */
export interface PublicKeysFlags {
  readonly kid?: string;
}

/** Prints the public side of a key as a key set (RFC 7517 §5). @throws CliError USAGE when it is no key */
export async function publicKeys(
  { io }: CommandContext,
  file: string,
  { kid }: PublicKeysFlags,
): Promise<void> {
  const keys = await readKeys(await readKeyText(file, io), file, kid);
  await io.stdout.write(`${formatJsonDocument({ keys }, false)}\n`);
}
