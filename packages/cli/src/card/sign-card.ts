import { resolve } from "node:path";
import { CardTextError, canonicalCard, SigningError, signCardText } from "@a2a-connect/signing";
import { assertKeySetUrl, type LegacyProfile, type SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { readCardFile } from "../agent/read-card-file.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { openSigningKey } from "../keys/signing-key.ts";
import { replaceFile } from "../keys/write-file.ts";
import { quote } from "../task/hints.ts";
import { findUnknownMembers } from "./card-problems.ts";
import { readStandardInput } from "./card-source.ts";
import { requireCardFile, requireOtherFile } from "./key-file.ts";
import { describeOtherJson } from "./odd-text.ts";
import { noCanonicalForm, writeExactly } from "./print-canonical.ts";
import { readSignatureHeaders } from "./signature-header.ts";

/** The options of `card sign`. */
export interface SignCardFlags {
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
  const options = { ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg }) };
  const { signer } = await openSigningKey(flags.key, io, options);
  const text =
    file === "-" ? await readStandardInput(context) : await readCardFile(resolve(io.cwd, file), file);
  const warnings: string[] = [];
  const signed = await explained(text, file, () =>
    signCardText(flags.replace === true ? canonicalCard(text) : text, {
      signer,
      ...(jku === undefined ? {} : { jku }),
      legacyVerifiers: flags.legacy ?? usualVerifiers,
      onWarning: (warning) => void warnings.push(warning),
    }),
  );
  for (const warning of [...warnUnknown(signed), ...warnings]) await output.warn(warning);
  const signatures = readSignatureHeaders(signed);
  const others = signatures.flatMap(({ kid: id }) =>
    id === undefined || id === signer.kid ? [] : JSON.stringify(id),
  );
  if (others.length > 0) {
    await output.note(
      `signed by ${others.join(", ")} as well: if the card was changed since, have them sign it again or drop them (--replace)`,
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
    throw usage("--in-place needs a file, and - is the standard input");
  }
  if (file === "-" && key === "-") {
    throw usage("the card and the key cannot both come on the standard input", "put one of them into a file");
  }
  if (/^https?:\/\//i.test(file)) {
    throw usage(
      "what is signed is a file, not a URL",
      `fetch it first: a2a card get ${quote(file)} -o json > card.json`,
    );
  }
  if (jku !== undefined) {
    try {
      assertKeySetUrl(jku);
    } catch (error) {
      if (!(error instanceof SigningError)) throw error;
      throw usage(`--jku: ${error.message}`, error.hint, error);
    }
  }
  const target = inPlace === true ? file : out === "-" ? undefined : out;
  if (target !== undefined) await requireOtherFile(target, key, io);
  if (target !== undefined && inPlace !== true && force !== true) await requireCardFile(target, io);
  return target;
}

function usage(message: string, hint?: string, cause?: unknown): CliError {
  return new CliError("A2ACLI_ERR_USAGE", message, { ...(hint === undefined ? {} : { hint }), cause });
}

/** Typos are signed like everything else, and nobody reads them. */
function warnUnknown(signed: string): readonly string[] {
  const members = findUnknownMembers(signed);
  const named = members.slice(0, 10).join(", ");
  const rest = members.length > 10 ? ` and ${members.length - 10} more` : "";
  return members.length === 0 ? [] : [`A2A 1.0 has no ${named}${rest}: signed all the same, and read by few`];
}

/** What is wrong with the card, as people can act upon it. */
async function explained<T>(text: string, file: string, sign: () => Promise<T>): Promise<T> {
  try {
    return await sign();
  } catch (error) {
    const name = file === "-" ? "the standard input" : file;
    if (error instanceof CardTextError) throw noCanonicalForm(error, name, text);
    if (error instanceof SigningError) {
      const odd = describeOtherJson(text);
      const message = odd === undefined ? `${name}: ${error.message}` : `${name} ${odd.problem}`;
      throw new CliError("A2ACLI_ERR_CARD_INVALID", message, { hint: odd?.hint ?? error.hint, cause: error });
    }
    throw error;
  }
}
