import type { CardTextFault } from "../canonical/unambiguous-text.ts";

/**
 * Why a signature may not count, and what to do about it, in the order of the checks: a signature with a later fault came further.
 */
const signatureFaults = {
  /** `protected` or `signature` is not unpadded base64url, the header is no JSON object, or the length is wrong. */
  "malformed-signature": "Fetch the card again. If that does not help, its operator has to sign it again.",
  /** `none`, HMAC, an unknown algorithm, or one that the policy does not allow. */
  "algorithm-not-allowed": "Its operator has to sign it with an algorithm that the policy allows.",
  /** The header demands what is not understood (`crit`, `b64`; RFC 7515 §4.1.11). */
  "crit-not-understood": "Its operator has to sign it without extensions of JWS.",
  "kid-missing": "Its operator has to sign it with a kid in the protected header (spec §8.4.2).",
  /** `typ` says that this is something else, such as a JWT. */
  "typ-not-allowed": 'Its operator has to sign it with the typ "JOSE", or without one (spec §8.4.2).',
  /** Neither a trusted key nor one of a key set that may be asked has this id. */
  "key-unknown":
    "Get the public key from a source you trust and add it to the policy; do not take it from the card's own server unless you trust that.",
  /** `jku` names no https URL of a host that the policy allows. */
  "jku-not-allowed":
    "If you trust that host to say who signs every card, add it to the hosts of the policy (jku.hosts).",
  "jwks-unavailable": "Try again later, or add the key itself to the policy.",
  "key-revoked": "Do not use this card: the key may be stolen. Its operator has to sign it with another key.",
  "key-not-yet-valid":
    "Check the clock of this machine. If it is right, the operator has to sign the card with a current key.",
  "key-expired":
    "Check the clock of this machine. If it is right, the operator has to sign the card with a current key.",
  /** The key is not made for this algorithm or for signatures, or is too weak. */
  "key-mismatch": "Compare the key in the policy or key set with what its owner says.",
  /** The key did not sign this card. */
  "signature-mismatch":
    "Do not use this card: it was changed after it was signed, or signed with another key.",
} as const;

/** What else may be wrong with a card that can be read. */
const cardFaults = {
  /** A REQUIRED member is missing, or something has a wrong type. */
  "card-invalid": "Its signatures were not checked. Tell the operator of the agent.",
  "no-signature": "Ask its operator to sign it; until then any proxy on the way could have written it.",
  /** The signature is right, but what it leaves out matters to security (legacy profiles only). */
  uncovered:
    "Its operator has to sign it as the specification says (profile strict); `allowUncovered` accepts it, at your own risk.",
  /** Fewer keys have signed than the policy demands. */
  "too-few-signers": "Do not use this card until the missing signers have signed it, too.",
  /** The origin was known by other keys (trust on first use). */
  "pin-changed":
    "Ask the operator of the agent, through a separate channel, whether it has new keys. If so, have the card memory forget the agent.",
  /** The card declares less security than the policy demands. */
  "security-too-weak":
    "Its operator has to declare what the agent demands. Or lower the minimum of the policy, if you know what that means.",
  /** The card is weaker than the last one of this origin. */
  downgrade:
    "Ask the operator of the agent, through a separate channel, whether this is meant. If so, have the card memory forget the agent.",
} as const;

/** Why a signature does not count. */
export type SignatureFault = keyof typeof signatureFaults;

/** Why a card is not trusted. */
export type CardFault = CardTextFault | SignatureFault | keyof typeof cardFaults;

/** Why a signature, or a key, does not count: a fault, and a sentence about it without a full stop. */
export interface Refusal<Fault extends SignatureFault = SignatureFault> {
  readonly fault: Fault;
  readonly problem: string;
}

/** What to do about a card that is not trusted, in a sentence or two. */
export function adviceOn(fault: CardFault): string {
  const advice: Readonly<Partial<Record<CardFault, string>>> = { ...signatureFaults, ...cardFaults };
  // What cannot be read may have been cut short on the way.
  return advice[fault] ?? "Fetch the card again. If that does not help, tell its operator.";
}

/** What came furthest, the first of those that came equally far; undefined when there is nothing. */
export function furthest<T extends { readonly fault: SignatureFault | undefined }>(
  faulty: readonly T[],
): T | undefined {
  const order = Object.keys(signatureFaults);
  const rank = ({ fault }: T) => (fault === undefined ? order.length : order.indexOf(fault));
  return faulty.toSorted((one, other) => rank(other) - rank(one))[0];
}
