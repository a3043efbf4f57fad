import type { CardFault } from "./verdict.ts";

/** What to do about the texts that have no one meaning: they may have been cut short on the way. */
const unreadable = "Fetch the card again; when it stays that way, tell its operator.";

/** What to do about a card that is not trusted, in a sentence or two. */
export const advice: Readonly<Record<CardFault, string>> = {
  "not-json": unreadable,
  "not-an-object": unreadable,
  "too-deep": unreadable,
  "too-large": unreadable,
  "duplicate-member": unreadable,
  "both-spellings": unreadable,
  "lone-surrogate": unreadable,
  "number-out-of-range": unreadable,
  "card-invalid": "Its signatures were not looked at; tell the operator of the agent.",
  "no-signature":
    "Ask the operator of the agent to sign it; until then anybody on the way could have written it.",
  "malformed-signature": "Fetch the card again; when it stays that way, its operator has to sign it anew.",
  "algorithm-not-allowed": "Its operator has to sign it with an algorithm that the policy allows.",
  "crit-not-understood": "Its operator has to sign it without extensions of JWS.",
  "kid-missing": "Its operator has to sign it with a kid in the protected header (spec §8.4.2).",
  "typ-not-allowed": 'Its operator has to sign it with the typ "JOSE", or without one (spec §8.4.2).',
  "key-unknown":
    "Get the public key from somebody you trust and add it to the policy; do not take it from the card's own server unless you trust that.",
  "key-mismatch": "Compare the key in the policy or key set with what its owner says.",
  "key-not-yet-valid":
    "Check the clock here; otherwise its operator has to sign it with a key that counts already.",
  "key-expired": "Check the clock here; otherwise its operator has to sign it with a current key.",
  "key-revoked":
    "Do not use this card: somebody else may have the key. Its operator has to sign it with another one.",
  "jku-not-allowed":
    "When you trust that host with the keys of every card, add it to the hosts of the policy (jku.hosts).",
  "jwks-unavailable": "Try again later, or add the key itself to the policy.",
  "signature-mismatch":
    "Do not use this card: it was changed after it was signed, or somebody else has signed it.",
  uncovered:
    "Its operator has to sign it as the specification says (profile strict); `allowUncovered` takes the risk.",
  "too-few-signers": "Do not use this card before those who are missing have signed it, too.",
  "pin-changed":
    "Ask the operator of the agent, by another way than through the agent, whether it has new keys. If so, have the card memory forget the agent.",
  "security-too-weak":
    "Its operator has to declare what it demands; or lower the minimum of the policy when you know what that means.",
  downgrade:
    "Ask the operator of the agent, by another way than through the agent, whether this is meant. If so, have the card memory forget the agent.",
};
