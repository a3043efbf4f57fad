import type { ServeOptions } from "@a2a-connect/node";
import type { CliIo } from "../cli-io.ts";
import type { ServeFlags } from "./serve-options.ts";

/**
 * The keys that `--sign-key` names, as the server takes them; nothing without.
 *
 * @throws CliError USAGE for a file that is no key, or one that cannot sign
 */
export async function readCardSigning(
  { signKey = [] }: Pick<ServeFlags, "signKey">,
  io: Pick<CliIo, "cwd">,
): Promise<Pick<ServeOptions, "signing">> {
  if (signKey.length === 0) return {};
  const { openSigningKey } = await import("../keys/signing-key.ts");
  const opened = await Promise.all(signKey.map((file) => openSigningKey(file, io)));
  return { signing: { keys: opened.map(({ text }) => ({ key: text })) } };
}
