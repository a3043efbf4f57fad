import type { CardVerification, LegacyProfile, VerificationFault } from "@a2a-connect/signing";
import type { SignatureHeader } from "./signature-header.ts";

/** What is known beside the verdict. */
export interface VerdictSituation {
  /** Where the card came from; undefined for a file. */
  readonly url: string | undefined;
  /** Whether any key was given. */
  readonly hasKeys: boolean;
  readonly headers: readonly SignatureHeader[];
  /** A profile by which the signature that does not fit would; undefined when there is none, or it was not tried. */
  readonly fitsProfile: LegacyProfile | undefined;
}

/** What to do about a card that is not verified, in a sentence; undefined when there is nothing to be done. */
export function nextStep({ reason }: CardVerification, situation: VerdictSituation): string | undefined {
  if (reason === undefined) return undefined;
  if (situation.fitsProfile !== undefined) {
    const profile = situation.fitsProfile;
    return `the signature fits the way that older software signs: --profile ${profile} lets it count, and lists what it leaves unprotected; better, have the card signed anew by the specification`;
  }
  return reason === "key-unknown" ? findKey(situation) : steps[reason];
}

function findKey({ url, hasKeys, headers }: VerdictSituation): string {
  const jku = headers.find((header) => header.jku !== undefined)?.jku;
  const other = hasKeys ? "another key" : "the signer's public key";
  const byHand = `get ${other} from somebody you trust, over another way than the card, and give it with --key`;
  if (jku === undefined) return byHand;
  const host = URL.parse(jku)?.host;
  if (host === undefined) return byHand;
  return url === undefined
    ? `${byHand}; or, where you trust ${host} to say who signs, --jwks-host ${host}`
    : `${byHand}; without --key, the key set that the signature names is asked where it is on the card's own origin`;
}

/** Where the verdict's own message does not say it all: the options and commands that lead on. */
const steps: Readonly<Partial<Record<VerificationFault, string>>> = {
  "not-json": "a2a doctor says what is there in the place of a card",
  "not-an-object": "a2a doctor says what is there in the place of a card",
  "card-invalid": "a2a card get --validate lists what is wrong with the card",
  "no-signature": "a2a card sign is how its operator does it",
  "typ-not-allowed": "older SDKs of Python sign that way: --profile python-1 lets it count",
  "jku-not-allowed":
    "give the signer's public key with --key; or, where you trust the host of the key set to say who signs, --jwks-host HOST",
  "jwks-unavailable": "try again, or give the signer's public key with --key",
  "signature-mismatch":
    "compare what a2a card canonical prints with what the operator has signed: that shows what was changed",
  uncovered:
    "--allow-uncovered lets the signature count although anybody could have changed what it leaves out",
  "too-few-signers": "give the keys of the other signers with --key",
  "pin-changed":
    "ask the operator, over another way than the card, whether the keys have changed; if they have, take the origin out of the file of --memory",
  "security-too-weak": "without --require-security the card counts; send nothing confidential then",
  downgrade:
    "ask the operator, over another way than the card, whether the agent is less protected than before; if it is, take the origin out of the file of --memory",
};
