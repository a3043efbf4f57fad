import { type AgentCard, AgentCardSignatureSchema } from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { base64url } from "jose";
import { jsonOfCard } from "../canonical/canonical-card.ts";
import { pruneCard } from "../canonical/prune-card.ts";
import { defaultMaxCardLength, readCardText } from "../canonical/unambiguous-text.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { readProtectedHeader } from "../jws/jws-text.ts";
import { isSameAlgorithm } from "../keys/algorithms.ts";
import { assertKeySetUrl } from "../keys/key-set-url.ts";
import { SigningError } from "../keys/key-type.ts";
import { type LegacyProfile, legacyProfiles, profileCard } from "../profiles/profile-card.ts";
import { maxSignatures, SignedCard, type SignedForm, signingInput } from "../signed-card.ts";
import { listPaths } from "../verify/verdict.ts";
import { type CardSigner, type CardSignerOptions, createCardSigner } from "./card-signer.ts";

/** By what a card is signed: a key, which is imported for this one card, or a signer, which is ready. */
export type SignCardOptions = SignatureOptions &
  (
    | (CardSignerOptions & { readonly signer?: undefined })
    | { readonly signer: CardSigner; readonly key?: undefined }
  );

/** What else makes up a signature. */
export interface SignatureOptions {
  /** URL of the key set that has the public key: https, or http on this machine. */
  readonly jku?: string;
  /** Verifiers whose gaps are warned of. Default: all that are known to have some. */
  readonly legacyVerifiers?: readonly LegacyProfile[];
  /** Told, in a sentence each, which fields those verifiers would leave uncovered, so that they refuse the signature. */
  readonly onWarning?: (warning: string) => void;
}

/** A signature as a card has it (spec §4.4.7). */
type CardSignature = Readonly<Record<"protected" | "signature", string>>;

/**
 * Signs a card over its canonical form (spec §8.4.2). To be served, its bytes are best those of `canonicalSignedCard`.
 *
 * @returns a copy with the signature, which shares the rest with the card. Signatures of other keys stay, so that keys can be
 *   rotated; one that this key has made before (same `kid` and `alg`) is replaced
 * @throws SigningError for a key that cannot sign, for options that make no sense, and for a card that no verifier would take
 *   because a REQUIRED member is missing; CardTextError when the card has no canonical form
 */
export async function signCard(card: AgentCard, options: SignCardOptions): Promise<AgentCard> {
  const signature = await makeSignature(new SignedCard(jsonOfCard(card)), options);
  const added = create(AgentCardSignatureSchema, signature);
  const signatures = addSignature(card.signatures, added);
  return { ...card, signatures: [...signatures] };
}

/**
 * As `signCard` of a card's text. Members that this version does not know are signed, too, and stay.
 *
 * @returns the canonical text with all signatures: what `canonicalSignedCard` makes of it, and the bytes to be served
 * @throws SigningError as `signCard`; CardTextError when the text could be read in two ways
 */
export async function signCardText(text: string, options: SignCardOptions): Promise<string> {
  const json = readCardText(text);
  const { signatures = null } = json;
  if (signatures !== null && !Array.isArray(signatures)) {
    throw new SigningError(
      "the card cannot be signed: its member signatures is not a list",
      "leave the member out, or make it a list",
    );
  }
  const signature = await makeSignature(new SignedCard(json), options);
  const all = addSignature<JsonValue>(signatures ?? [], signature);
  const signed = { ...json, signatures: [...all] };
  return writeCanonical(pruneCard(signed));
}

/**
 * Signs a card of A2A 0.3, which has members that no card of 1.0 has: RFC 8785 over its JSON as it stands, without signatures.
 * Verifiers know it as the profile `raw`.
 *
 * @returns a copy with a signature of each signer, and no other
 * @throws CardTextError when the card has no canonical form
 */
export async function signOlderCard(
  card: JsonObject,
  signers: readonly CardSigner[],
  options: Pick<SignatureOptions, "jku">,
): Promise<JsonObject> {
  const { signatures: _, ...unsigned } = card;
  const forms = new SignedCard(unsigned).forms("raw");
  const signed = forms.flatMap((form) => signers.map((signer) => signForm(form, signer, options)));
  return { ...unsigned, signatures: await Promise.all(signed) };
}

async function makeSignature(card: SignedCard, options: SignCardOptions): Promise<CardSignature> {
  const { signer: given, legacyVerifiers, onWarning } = options;
  const problems = card.findProblems();
  if (problems.length > 0) {
    const hint = "no verifier would accept it; add or correct these members (spec §8.4.1)";
    throw new SigningError(`the card cannot be signed: ${problems.join(", ")}`, hint);
  }
  if (card.canonical.length > defaultMaxCardLength) {
    throw new SigningError(
      `the card cannot be signed: it is longer than ${defaultMaxCardLength} characters, and verifiers read no longer cards`,
      "shorten it: put long texts behind a URL, such as documentationUrl",
    );
  }
  const signer = given ?? (await createCardSigner(options));
  const signature = await signForm(card.strict, signer, options);
  if (onWarning !== undefined)
    for (const warning of findLegacyWarnings(card, legacyVerifiers)) onWarning(warning);
  return signature;
}

/** A signature over one form of a card. @throws SigningError for options that make no sense */
async function signForm(
  form: SignedForm,
  signer: CardSigner,
  { jku }: Pick<SignatureOptions, "jku">,
): Promise<CardSignature> {
  if (jku !== undefined) assertKeySetUrl(jku);
  const { alg, kid } = signer;
  // In the order of the specification's example (§8.4.2); without a jku it has none.
  const protectedText = base64url.encode(JSON.stringify({ alg, typ: "JOSE", kid, jku }));
  const signature = await signer.sign(signingInput(protectedText, form));
  return { protected: protectedText, signature: base64url.encode(signature) };
}

/** Who verifies by a profile, for people. */
const verifiers: Readonly<Record<LegacyProfile, string>> = {
  "js-1": "@a2a-js/sdk 1.x and a2a-sdk of Python from 1.1.4 on (js-1)",
  "python-1": "a2a-sdk of Python up to 1.1.3 (python-1)",
  raw: "verifiers of the JSON as it stands (raw)",
};

/**
 * What signing this card tells its signer: a sentence for each kind of verifier that does not follow the specification, makes
 * something else of the card, and so refuses its signature.
 *
 * @throws CardTextError when the card has no canonical form
 */
export function findLegacyWarnings(
  card: AgentCard | SignedCard,
  profiles: readonly LegacyProfile[] = legacyProfiles,
): readonly string[] {
  const { unsigned, canonical } = card instanceof SignedCard ? card : new SignedCard(jsonOfCard(card));
  return profiles.flatMap((profile) => {
    // The last form leaves out most; who verifies by it cannot be known from here.
    const form = profileCard(profile, unsigned).findLast(({ payload }) => payload !== canonical);
    if (form === undefined) return [];
    const { uncovered } = form;
    const reason =
      uncovered.length === 0
        ? "write numbers and characters outside ASCII in another way"
        : `ignore these fields, or parts of them: ${listPaths(uncovered, 20)}; give the empty fields a value, or remove those that are optional`;
    return [`${verifiers[profile]} will refuse this signature, because they ${reason}`];
  });
}

/**
 * Signatures with one more. It takes the place of those that the same key has made before: they are of another card, or say the
 * same. Those of other keys stay, so that keys can be rotated. A key is told by its id and its algorithm.
 *
 * @throws SigningError when there are more than verifiers look at
 */
function addSignature<Entry>(entries: readonly Entry[], added: Entry): readonly Entry[] {
  const own = readSigner(added);
  const isOwn = (entry: Entry) => {
    const { kid, alg } = readSigner(entry);
    return kid === own["kid"] && isSameAlgorithm(alg, own["alg"]);
  };
  const others = entries.filter((entry) => !isOwn(entry));
  const first = entries.findIndex(isOwn); // all before it stay
  const all = others.toSpliced(first === -1 ? others.length : first, 0, added);
  if (all.length <= maxSignatures) return all;
  const problem = `the card has ${maxSignatures} signatures already, and verifiers check no more`;
  throw new SigningError(problem, "remove the signatures of keys that are no longer needed");
}

/** The protected header of an entry, which may be any JSON value, or a message; empty when it cannot be read. */
function readSigner(entry: unknown): JsonObject {
  const { protected: text } = (entry ?? {}) as { readonly protected?: unknown }; // any value has members or none
  const header = typeof text === "string" ? readProtectedHeader(text) : {};
  return typeof header === "string" ? {} : header;
}
