import {
  type CardSigner,
  createCardSigner,
  type SignatureAlgorithm,
  SigningError,
} from "@a2a-connect/signing";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { nameKey, readKeyText } from "./read-key-text.ts";

/** How a key signs, where it does not say so itself. */
export interface SigningKeyOptions {
  readonly kid?: string;
  readonly alg?: SignatureAlgorithm;
}

/** A private key of a file, and what it signs with. */
export interface OpenSigningKey {
  /** A JWK or PEM. */
  readonly text: string;
  readonly signer: CardSigner;
}

/**
 * The private key of a file: a JWK or PEM.
 *
 * @throws CliError USAGE when it cannot sign; the key is named by its file, and never repeated
 */
export async function openSigningKey(
  reference: string,
  io: Pick<CliIo, "cwd">,
  options: SigningKeyOptions = {},
): Promise<OpenSigningKey> {
  const text = await readKeyText(reference, io);
  try {
    return { text, signer: await createCardSigner({ key: text, ...options }) };
  } catch (error) {
    if (!(error instanceof SigningError)) throw error;
    throw new CliError("A2ACLI_ERR_USAGE", `${nameKey(reference)} cannot sign: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}
