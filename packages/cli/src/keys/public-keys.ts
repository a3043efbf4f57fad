import { createKeySet, type VerificationKey } from "@a2a-connect/signing";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { formatJsonDocument } from "../output.ts";
import { readKeyFile, readPublicKeys, refusedAsUsage, refuseRenaming } from "./key-file.ts";

/** Prints the public side of keys as one key set (RFC 7517 §5). What counts no more is left out, and named on stderr. */
export async function publicKeys(
  { io, output }: CommandContext,
  files: readonly string[],
  { kid }: { readonly kid?: string },
): Promise<void> {
  if (kid !== undefined && files.length > 1) {
    throw usageError(
      `--kid names one key, and you gave ${files.length} files`,
      "print their key sets one by one, or give keys that have an id",
    );
  }
  const keys: VerificationKey[] = [];
  for (const reference of files) {
    const file = await readKeyFile(reference, io);
    refuseRenaming(file, kid);
    keys.push(...(await readPublicKeys(file, kid)));
  }
  const keySet = await refusedAsUsage(() => createKeySet(keys));
  const shown = new Set(keySet.keys.map((key) => key.kid));
  for (const { kid: id } of keys.filter((key) => !shown.has(key.kid))) {
    await output.warn(
      `the key ${JSON.stringify(id)} is not in the key set, because it is expired or revoked`,
    );
  }
  await io.stdout.write(`${formatJsonDocument(keySet, false)}\n`);
}
