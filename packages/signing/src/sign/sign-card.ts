import { type AgentCard, AgentCardSchema, AgentCardSignatureSchema } from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { readCard } from "../canonical/canonical-card.ts";
import { pruneMessage } from "../canonical/prune-message.ts";
import { readCardText } from "../canonical/read-card-text.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { encodeBase64url } from "../jws/base64url.ts";
import { SigningError } from "../signing-error.ts";
import { findCardProblems } from "../verify/card-problems.ts";
import { SignedCard, signingInput } from "../verify/signed-card.ts";
import { createCardSigner } from "./card-signer.ts";
import { copyUnprotectedHeader, encodeProtectedHeader } from "./jws-header.ts";
import { legacyWarnings } from "./legacy-warnings.ts";
import type { SignatureOptions, SignCardOptions } from "./sign-options.ts";

/** A signature as a card has it (spec §4.4.7). */
interface CardSignature {
  readonly protected: string;
  readonly signature: string;
  readonly header?: JsonObject;
}

/**
 * Signs a card over its canonical form (spec §8.4.2). To be served, its bytes are best those of `canonicalSignedCard`.
 *
 * @returns a copy with one signature more, which shares the rest with the card; signatures that it has stay, so that keys can be
 *   rotated
 * @throws SigningError for a key that cannot sign, for options that make no sense, and for a card that no verifier would take
 *   because a REQUIRED member is missing; CardTextError when the card has no canonical form
 */
export async function signCard(card: AgentCard, options: SignCardOptions): Promise<AgentCard> {
  const signature = await makeSignature(new SignedCard(readCard(card)), options);
  return { ...card, signatures: [...card.signatures, create(AgentCardSignatureSchema, signature)] };
}

/**
 * As `signCard` of a card's text. What nobody knows in it is signed, too, and stays.
 *
 * @returns the canonical text with all signatures: what `canonicalSignedCard` makes of it, and the bytes to be served
 * @throws SigningError as `signCard`; CardTextError when the text could be read in two ways
 */
export async function signCardText(text: string, options: SignCardOptions): Promise<string> {
  const json = readCardText(text);
  const { signatures = null } = json;
  if (signatures !== null && !Array.isArray(signatures)) {
    throw new SigningError(
      "the card cannot be signed: signatures is no list",
      "leave the member away, or make it a list",
    );
  }
  const signature = await makeSignature(new SignedCard(json), options);
  const signed = { ...json, signatures: [...(signatures ?? []), { ...signature }] };
  return writeCanonical(pruneMessage(AgentCardSchema, signed));
}

async function makeSignature(card: SignedCard, options: SignCardOptions): Promise<CardSignature> {
  const problems = findCardProblems(card.unsigned);
  if (problems.length > 0) {
    throw new SigningError(
      `the card cannot be signed: ${problems.join(", ")}`,
      "no verifier would take it; add or correct what is named (spec §8.4.1)",
    );
  }
  const { jku, header } = options;
  const unprotected = header === undefined ? {} : { header: copyUnprotectedHeader(header) };
  const signer = options.signer ?? (await createCardSigner(options));
  const protectedText = encodeProtectedHeader(signer, jku);
  const signature = await signer.sign(signingInput(protectedText, card.strict));
  warn(card, options);
  return { protected: protectedText, signature: encodeBase64url(signature), ...unprotected };
}

function warn(card: SignedCard, { legacyVerifiers, onWarning }: SignatureOptions): void {
  if (onWarning === undefined) return;
  for (const warning of legacyWarnings(card, legacyVerifiers)) onWarning(warning);
}
