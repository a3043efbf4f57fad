import { isLoopbackHost } from "@a2a-connect/core/internal";
import type { ServeOptions } from "@a2a-connect/node";
import type { AgentCard } from "@a2a-connect/proto";
import { thumbprintOf, type VerificationKey } from "@a2a-connect/signing";
import { findLegacyWarnings } from "@a2a-connect/signing/internal";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { Output } from "../output.ts";

/** A key that signs no more, and until when it verifies. */
export interface RetiredKey {
  readonly file: string;
  readonly until: Date;
}

export interface SigningFlags {
  readonly signKey?: readonly string[];
  readonly retiredKey?: readonly RetiredKey[];
}

/** A key as it is published, and as the server takes it. */
interface ServedKey {
  readonly key: VerificationKey;
  readonly option: Required<ServeOptions>["signing"]["keys"][number];
}

/** The keys that `--sign-key` and `--retired-key` name, as the server takes them; undefined without. @throws CliError USAGE */
export async function readCardSigning(
  { signKey = [], retiredKey = [] }: SigningFlags,
  io: Pick<CliIo, "cwd" | "stdin">,
): Promise<readonly ServedKey[] | undefined> {
  if (signKey.length === 0) {
    if (retiredKey.length === 0) return undefined;
    throw usageError("--retired-key needs another key that signs", "name that key with --sign-key");
  }
  const { openSigningKey } = await import("../keys/signing-key.ts");
  const { readKeyFile, readPublicKeys } = await import("../keys/key-file.ts");
  const keys: ServedKey[] = [];
  for (const file of signKey) {
    const { text, signer } = await openSigningKey(file, io);
    keys.push({ option: { key: text }, key: signer.publicKey });
  }
  for (const { file, until } of retiredKey) {
    for (const key of await readPublicKeys(await readKeyFile(file, io))) {
      keys.push({ option: { key, retiredUntil: until }, key });
    }
  }
  const ids = keys.map(({ key }) => key.kid);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    throw usageError(
      `two keys have the id ${JSON.stringify(twice)}`,
      "a key either signs or is retired, and each needs its own id; a2a keys new --kid makes one with another id",
    );
  }
  return keys;
}

/** Where signed cards are served: where callers reach it and what `--host` names, if that was said. */
interface SignedPlace extends Pick<ServeOptions, "publicUrl" | "host"> {
  /** Where the server listens, as a URL of this machine where that is open to the network. */
  readonly url: string;
}

/** Says which keys the key set has, and warns of cards that cannot be verified from elsewhere, or that verifiers in use refuse. */
export async function announceSigning(
  output: Output,
  keys: readonly ServedKey[],
  place: SignedPlace,
  cards: readonly AgentCard[],
): Promise<void> {
  await output.field("Key Set", `${place.publicUrl ?? place.url}/.well-known/jwks.json`);
  for (const { key, option } of keys) {
    const [label, detail] = option.retiredUntil
      ? ["Retired Key", `, until ${option.retiredUntil.toISOString()}`]
      : ["Signing Key", key.alg === undefined ? "" : `, ${key.alg}`];
    await output.field(label, `${key.kid}${detail}, thumbprint ${await thumbprintOf(key)}`);
  }
  const warning = findPlaceFault(place);
  if (warning !== undefined) await output.warn(warning);
  for (const card of cards) {
    // What is raw is served canonical, and the Python of before that wrote otherwise has few users left.
    for (const sentence of findLegacyWarnings(card, ["js-1"])) {
      await output.warn(cards.length === 1 ? sentence : `${card.name}: ${sentence}`);
    }
  }
}

/** Why callers cannot verify what is served there. */
function findPlaceFault({ url, publicUrl, host }: SignedPlace): string | undefined {
  if (
    publicUrl === undefined &&
    host !== undefined &&
    !isThisMachine(host) &&
    isThisMachine(new URL(url).hostname)
  ) {
    return `the signed card names ${url} as the URL of the agent and its keys, but only this machine can reach it: set --public-url https://… to the URL that callers use`;
  }
  const { protocol, hostname } = new URL(publicUrl ?? url);
  return protocol === "https:" || isThisMachine(hostname)
    ? undefined
    : "the signed card does not say where its keys are, because verifiers fetch key sets over https only: serve the agent over https and set --public-url to that URL, or give callers the key";
}

/** Whether a name or an address, of `--host` or as a URL has it, is this machine for itself. */
function isThisMachine(host: string): boolean {
  return host === "::1" || isLoopbackHost(host);
}
