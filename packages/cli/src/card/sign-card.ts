import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentCardSchema } from "@a2a-connect/proto";
import { CardTextError, canonicalCard, SigningError, signCardText } from "@a2a-connect/signing";
import { assertKeySetUrl, type LegacyProfile, type SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { readCardFile } from "../agent/reference.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { CommandContext } from "../context.ts";
import { defined, readObject } from "../json.ts";
import { refusedAsUsage } from "../keys/key-file.ts";
import { openSigningKey } from "../keys/signing-key.ts";
import { replaceFile } from "../keys/write-file.ts";
import { isInlineKey } from "../settings/values.ts";
import { quote } from "../task/hints.ts";
import { noCanonicalForm, readStandardInput, textToSign, writeExactly } from "./card-source.ts";
import { readSignatureHeaders } from "./card-text.ts";

/** The options of `card sign`. */
interface SignCardFlags {
  readonly key: string;
  readonly kid?: string;
  readonly alg?: SignatureAlgorithm;
  readonly jku?: string;
  readonly inPlace?: boolean;
  /** `-` is the standard output. */
  readonly out?: string;
  /** Whether `out` may be a file that is there and is no card. Default: it is refused. */
  readonly force?: boolean;
  readonly replace?: boolean;
  readonly legacy?: readonly LegacyProfile[];
}

/** Older verifiers that signers are warned of: most cards are written otherwise by the Python of before, and few still use it. */
const usualVerifiers: readonly LegacyProfile[] = ["js-1", "raw"];

/**
 * Signs a card, and prints or writes the bytes to be served: its canonical form with its signatures, and nothing else. At a
 * terminal, a line feed follows. Signatures of other keys stay, so that keys can be rotated.
 *
 * @throws CliError USAGE for flags that make no sense, a key that cannot sign, and a file that cannot be written or is no card;
 *   CARD_NOT_FOUND; CARD_INVALID for what is no card or has no canonical form
 */
export async function signCard(context: CommandContext, file: string, flags: SignCardFlags): Promise<void> {
  const { io, output } = context;
  const { kid, alg, jku } = flags;
  const target = await checkFlags(context, file, flags);
  const { signer } = await openSigningKey(flags.key, io, defined({ kid, alg }));
  const text =
    file === "-" ? await readStandardInput(context) : await readCardFile(resolve(io.cwd, file), file);
  const warnings: string[] = [];
  const { signed, isOfBoth } = await explained(file, async () => {
    const whole = flags.replace === true ? canonicalCard(text) : text;
    const current = textToSign(whole);
    const signed = await signCardText(current, {
      signer,
      ...defined({ jku }),
      legacyVerifiers: flags.legacy ?? usualVerifiers,
      onWarning: (warning) => void warnings.push(warning),
    });
    return { signed, isOfBoth: current !== whole };
  });
  for (const warning of [...(await warnUnknown(signed)), ...warnings]) await output.warn(warning);
  if (isOfBoth) {
    await output.note(
      "the card also had members of A2A 0.3: they are left out, because a signed card has one version only",
    );
  }
  const signatures = readSignatureHeaders(signed);
  const others = signatures.flatMap(({ kid: id }) =>
    id === undefined || id === signer.kid ? [] : JSON.stringify(id),
  );
  if (others.length > 0) {
    await output.note(
      `the signatures by ${others.join(", ")} are kept: if the card was changed since, have these keys sign it again, or drop their signatures (--replace)`,
    );
  }
  if (target === undefined) {
    await writeExactly(io.stdout, signed);
    if (io.stdout.isTerminal) await io.stdout.write("\n");
    await output.note(`signed by key ${signer.kid} with ${signer.alg}`);
    return;
  }
  await replaceFile(target, signed, io);
  await output.field("File", target);
  await output.field("Key", signer.kid);
  await output.field("Algorithm", signer.alg);
  await output.field("Signatures", signatures.length);
  await output.document({ file: target, kid: signer.kid, alg: signer.alg, signatures: signatures.length });
}

/** @returns the file to be written; undefined for the standard output */
async function checkFlags(
  { io }: CommandContext,
  file: string,
  { key, jku, inPlace, out, force }: SignCardFlags,
): Promise<string | undefined> {
  if (inPlace === true && file === "-") {
    throw usageError("--in-place needs a file, and - is the standard input");
  }
  if (file === "-" && key === "-") {
    throw usageError(
      "the card and the key cannot both come from the standard input",
      "put one of them into a file",
    );
  }
  if (/^https?:\/\//i.test(file)) {
    throw usageError(
      "card sign takes a file, not a URL",
      `fetch it first: a2a card get ${quote(file)} -o json > card.json`,
    );
  }
  if (jku !== undefined) await refusedAsUsage(() => assertKeySetUrl(jku), "--jku: ");
  const target = inPlace === true ? file : out === "-" ? undefined : out;
  if (target !== undefined) await requireOtherFile(target, key, io);
  if (target !== undefined && inPlace !== true && force !== true) await requireCardFile(target, io);
  return target;
}

/** Misspelled members are signed like everything else, and clients ignore them. */
async function warnUnknown(signed: string): Promise<readonly string[]> {
  const { findDefects } = await import("@a2a-connect/conformance");
  const defects = findDefects(AgentCardSchema, JSON.parse(signed));
  const unknown = defects
    .flatMap(({ kind, path }) => (kind === "unknown" ? [path.slice(0, 120)] : []))
    .slice(0, 20);
  return unknown.length === 0
    ? []
    : [`not in A2A 1.0: ${unknown.join(", ")}; signed anyway, but few clients read it`];
}

/** What is wrong with the card, as people can act upon it. */
async function explained<T>(file: string, sign: () => Promise<T>): Promise<T> {
  try {
    return await sign();
  } catch (error) {
    const name = file === "-" ? "the standard input" : file;
    if (error instanceof CardTextError) throw noCanonicalForm(error, name);
    if (!(error instanceof SigningError)) throw error;
    throw new CliError("A2ACLI_ERR_CARD_INVALID", `${name}: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

/**
 * Makes sure that the card does not overwrite the key, under any name of its file: there may be no other copy.
 *
 * @throws CliError USAGE
 */
async function requireOtherFile(target: string, key: string, { cwd }: Pick<CliIo, "cwd">): Promise<void> {
  if (isInlineKey(key) || key === "-") return;
  const [one, other] = await Promise.all(
    [target, key].map((file) => stat(resolve(cwd, file), { bigint: true }).catch(() => undefined)),
  );
  if (one === undefined || one.dev !== other?.dev || one.ino !== other.ino || !one.isFile()) return;
  throw usageError(
    `${target} is the key itself, and the card would overwrite it`,
    "name another file; - is the standard output",
  );
}

/**
 * Sees to it that a card takes the place of cards alone: of anything else, such as another private key, there may be no other
 * copy. An empty file, and what is no file, such as a pipe or a device, has nothing to lose.
 *
 * @throws CliError USAGE for a file that is there and is no card, or cannot be read
 */
async function requireCardFile(target: string, { cwd }: Pick<CliIo, "cwd">): Promise<void> {
  const path = resolve(cwd, target);
  const there = await stat(path).catch(() => undefined);
  if (there?.isFile() !== true || there.size === 0) return;
  if (looksLikeCard(await readCardFile(path).catch(() => ""))) return;
  throw usageError(
    `${target} exists and is not a readable card; nothing was written`,
    "choose another file with --out, or overwrite it with --force; a key that is overwritten cannot sign again",
  );
}

/** Cards that are older, or not finished, are cards as well. */
function looksLikeCard(text: string): boolean {
  const json = readObject(text);
  return ("supportedInterfaces" in json || "name" in json) && !("kty" in json || "keys" in json);
}
