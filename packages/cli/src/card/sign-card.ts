import { resolve } from "node:path";
import {
  CardTextError,
  canonicalCard,
  type SignatureAlgorithm,
  SigningError,
  signCardText,
} from "@a2a-connect/signing";
import { readCardFile } from "../agent/read-card-file.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import { openSigningKey } from "../keys/signing-key.ts";
import { replaceFile } from "../keys/write-file.ts";
import { readStandardInput } from "./card-source.ts";
import { noCanonicalForm, writeExactly } from "./print-canonical.ts";
import { readSignatureHeaders } from "./signature-header.ts";

/** The options of `card sign`. */
export interface SignCardFlags {
  readonly key: string;
  readonly kid?: string;
  readonly alg?: SignatureAlgorithm;
  readonly jku?: string;
  readonly inPlace?: boolean;
  readonly out?: string;
  readonly replace?: boolean;
}

/**
 * Signs a card, and prints or writes the bytes to be served: its canonical form with its signatures, and a line feed. Signatures
 * that it has stay, so that keys can be rotated.
 *
 * @throws CliError USAGE for a key that cannot sign, CARD_NOT_FOUND, CARD_INVALID for what is no card or has no canonical form
 */
export async function signCard(context: CommandContext, file: string, flags: SignCardFlags): Promise<void> {
  const { io, output } = context;
  const { kid, alg, jku } = flags;
  if (flags.inPlace === true && file === "-") {
    throw new CliError("A2ACLI_ERR_USAGE", "--in-place needs a file, and - is the standard input");
  }
  const options = { ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg }) };
  const { signer } = await openSigningKey(flags.key, io, options);
  const text = file === "-" ? await readStandardInput(context) : await readCardFile(resolve(io.cwd, file));
  const warnings: string[] = [];
  const signed = await explained(file, () =>
    signCardText(flags.replace === true ? canonicalCard(text) : text, {
      signer,
      ...(jku === undefined ? {} : { jku }),
      onWarning: (warning) => void warnings.push(warning),
    }),
  );
  for (const warning of warnings) await output.warn(warning);
  const target = flags.inPlace === true ? file : flags.out;
  if (target === undefined) {
    await writeExactly(io.stdout, `${signed}\n`);
    await output.note(`signed by key ${signer.kid} with ${signer.alg}`);
    return;
  }
  await replaceFile(resolve(io.cwd, target), `${signed}\n`);
  await output.field("File", target);
  const signatures = readSignatureHeaders(signed).length;
  await output.field("Key", signer.kid);
  await output.field("Algorithm", signer.alg);
  await output.field("Signatures", signatures);
  await output.document({ file: target, kid: signer.kid, alg: signer.alg, signatures });
}

/** What is wrong with the card, as people can act upon it. */
async function explained<T>(file: string, sign: () => Promise<T>): Promise<T> {
  try {
    return await sign();
  } catch (error) {
    const name = file === "-" ? "the standard input" : file;
    if (error instanceof CardTextError) throw noCanonicalForm(error, name);
    if (error instanceof SigningError) {
      const { message, hint } = error;
      throw new CliError("A2ACLI_ERR_CARD_INVALID", `${name}: ${message}`, { hint, cause: error });
    }
    throw error;
  }
}
