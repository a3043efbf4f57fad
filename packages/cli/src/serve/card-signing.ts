import type { ServeOptions } from "@a2a-connect/node";
import type { VerificationKey } from "@a2a-connect/signing";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { ServeFlags } from "./serve-options.ts";

/** A key as it is published. */
export interface ServedKey {
  readonly key: VerificationKey;
  /** Undefined: it signs. */
  readonly retiredUntil: Date | undefined;
}

/** How the cards are signed. */
export interface ServedSigning {
  readonly options: Required<Pick<ServeOptions, "signing">>;
  /** In the order of the key set. */
  readonly keys: readonly ServedKey[];
}

/**
 * The keys that `--sign-key` and `--retired-key` name, as the server takes them; undefined without.
 *
 * @throws CliError USAGE for a file that is no key, or one that cannot sign; for two keys with one id
 */
export async function readCardSigning(
  { signKey = [], retiredKey = [] }: Pick<ServeFlags, "signKey" | "retiredKey">,
  io: Pick<CliIo, "cwd" | "stdin">,
): Promise<ServedSigning | undefined> {
  if (signKey.length === 0) {
    if (retiredKey.length === 0) return undefined;
    throw usageError(
      "a retired key signs no more, and there is none that does",
      "name the one that signs now by --sign-key",
    );
  }
  const { openSigningKey } = await import("../keys/signing-key.ts");
  const { readKeyFile, readPublicKeys } = await import("../keys/key-file.ts");
  const signing: SigningKey[] = [];
  for (const file of signKey) {
    const { text, signer } = await openSigningKey(file, io);
    if (signer.publicKey !== undefined) {
      signing.push({ option: { key: text }, key: signer.publicKey, retiredUntil: undefined });
    }
  }
  for (const { file, until } of retiredKey) {
    for (const key of await readPublicKeys(await readKeyFile(file, io))) {
      signing.push({ option: { key, retiredUntil: until }, key, retiredUntil: until });
    }
  }
  requireDifferentIds(signing);
  return { options: { signing: { keys: signing.map(({ option }) => option) } }, keys: signing };
}

interface SigningKey extends ServedKey {
  readonly option: Required<ServeOptions>["signing"]["keys"][number];
}

function requireDifferentIds(keys: readonly ServedKey[]): void {
  const ids = keys.map(({ key }) => key.kid);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice === undefined) return;
  throw usageError(
    `two keys have the id ${JSON.stringify(twice)}`,
    "each key has an id of its own, and either signs or is retired; a2a keys new --kid makes one with another",
  );
}
