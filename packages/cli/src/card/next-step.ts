import type { CardFault } from "@a2a-connect/signing/internal";
import { quote as shellQuote } from "../task/hints.ts";
import type { FittingProfile } from "./fitting-profile.ts";
import type { VerdictReport } from "./verdict-report.ts";

/** What to do about a card that is not verified, in a sentence; undefined when there is nothing to be done. */
export function nextStep(report: VerdictReport): string | undefined {
  const { verification, fits, lostKeySets } = report;
  const { reason } = verification;
  if (reason === undefined) return undefined;
  if (fits !== undefined) return askForSignature(fits);
  switch (reason) {
    case "key-unknown":
      return findKey(report);
    case "jku-not-allowed":
      return nameHost(report);
    case "jwks-unavailable":
      return `${lostKeySets[0]?.failure.fix ?? "try again"} Or give the signer's public key with --key`;
    case "pin-changed":
      return `ask the operator, over another way than the card, whether the keys have changed; only if they have: ${forgetCommand(report)}, then verify again with the new key (--key alone does not help: the old ones are remembered)`;
    case "downgrade":
      return `ask the operator, over another way than the card, whether the agent is less protected than before; only if it is: ${forgetCommand(report)}, then verify again`;
    default:
      return steps[reason];
  }
}

/** The flag is the last thing to be told, and only where it would do. */
function askForSignature({ profile, isRefused }: FittingProfile): string {
  const ask =
    "ask the operator to sign the card by the specification (a2a card sign), or compare it with a copy that you have from him over another way";
  return isRefused
    ? `${ask}. The profile would not do: what it leaves open matters to security`
    : `${ask}. Only where you know that older software signs his cards, --profile ${profile} lets the signature count`;
}

function findKey({ url, policy, signatures }: VerdictReport): string {
  const other = policy.keys.length > 0 ? "another key" : "the signer's public key";
  const byHand = `get ${other} from somebody you trust, over another way than the card, and give it with --key`;
  const host = keySetHost(signatures);
  if (host === undefined) return byHand;
  return url === undefined
    ? `${byHand}; or, where you trust ${host} to say who signs, --jwks-host ${host}`
    : `${byHand}; without --key, the key set that the signature names is asked where it is on the card's own origin`;
}

function nameHost({ signatures }: VerdictReport): string {
  const host = keySetHost(signatures);
  const byHand = "give the signer's public key with --key";
  return host === undefined
    ? byHand
    : `${byHand}; or, where you trust ${host} to say who signs every card, --jwks-host ${host}`;
}

/** The host of the key set that a signature names, as the option takes it. */
function keySetHost(signatures: VerdictReport["signatures"]): string | undefined {
  const jku = signatures.flatMap(({ header }) => header?.jku ?? [])[0];
  const { host = "" } = jku === undefined ? {} : (URL.parse(jku) ?? {});
  return host === "" ? undefined : host;
}

function forgetCommand({ asked, known }: VerdictReport): string {
  return ["a2a card forget", ...[asked ?? "", "--memory", known?.file ?? ""].map(shellQuote)].join(" ");
}

/** Where the verdict's own message does not say it all: the options and commands that lead on. */
const steps: Readonly<Partial<Record<CardFault, string>>> = {
  "not-json": "a2a doctor says what is there in the place of a card",
  "not-an-object": "a2a doctor says what is there in the place of a card",
  "card-invalid": "a2a card get --validate lists what is wrong with the card",
  "no-signature": "a2a card sign is how its operator does it",
  "signature-mismatch":
    "compare the digest, or what a2a card canonical prints, with what the operator has signed: that shows what was changed",
  uncovered:
    "ask the operator to sign the card by the specification (a2a card sign), or compare it with a copy that you have from him over another way",
  "too-few-signers": "give the keys of the other signers with --key",
  "security-too-weak": "without --require-security the card counts; send nothing confidential then",
};
