import { shownText } from "@a2a-connect/core/internal";
import type { JsonValue } from "@bufbuild/protobuf";
import type { CryptoKey } from "jose";
import { type AlgorithmEntry, algorithms, coordinateLengths } from "../keys/algorithms.ts";
import { findKeyTimeFault, importVerificationKey, thumbprintOf } from "../keys/key.ts";
import { checkJku } from "../keys/key-set-url.ts";
import type { KeyLookupOptions } from "../keys/key-sets.ts";
import { SigningError, type VerificationKey } from "../keys/key-type.ts";
import { legacyProfiles, type Profile } from "../profiles/profile-card.ts";
import { type SignedCard, type SignedForm, signingInput } from "../signed-card.ts";
import { cardTurn, inSignatureTurn } from "./card-turns.ts";
import { furthest, type Refusal, type SignatureFault } from "./faults.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import { type ReadableSignature, readSignatureEntry } from "./signature-entry.ts";
import type { SignatureCheck } from "./verdict.ts";

/** What the signatures of a card are checked by. */
export interface CheckContext extends KeyLookupOptions {
  readonly card: SignedCard;
  /** Characters of its text. */
  readonly length: number;
  readonly policy: PreparedPolicy;
  /** Where the card came from, when that is known. */
  readonly cardUrl: URL | undefined;
  /** The key sets that this card has made us ask, by their URL. */
  readonly askedKeySets: Set<string>;
}

/** What became of one entry of `signatures`, looked at by itself. */
export interface CheckedSignature extends Omit<SignatureCheck, "counts" | "hasGap"> {
  /** What was signed; undefined when it is not valid. */
  readonly form: SignedForm | undefined;
}

/** Who has signed, and what. */
interface Signer {
  readonly form: SignedForm;
  readonly thumbprint: string;
  readonly keySource: NonNullable<SignatureCheck["keySource"]>;
}

/** One signature of a card, whose signer is looked for. */
interface Search extends CheckContext {
  readonly read: ReadableSignature;
}

/** Key sets that one card can make us ask: another party has written it. */
const maxKeySets = 5;

/**
 * Checks one entry of `signatures`: its form, its header, its key, and then the signature itself, by one profile after the
 * other. Trusted keys come first, and key sets are asked only when none of them has signed.
 *
 * @throws what the context's signal was aborted with, and nothing else
 */
export async function checkSignature(
  entry: JsonValue,
  index: number,
  context: CheckContext,
): Promise<CheckedSignature> {
  const read = readSignatureEntry(entry, context.policy);
  const found = "fault" in read ? read : await findSigner({ ...context, read });
  const { form, thumbprint, keySource, fault, problem }: Partial<Signer & Refusal> = found;
  return {
    index,
    valid: form !== undefined,
    kid: read.kid,
    alg: read.alg,
    form,
    profile: form?.profile,
    uncovered: form?.uncovered ?? [],
    thumbprint,
    keySource,
    fault,
    problem,
  };
}

async function findSigner(search: Search): Promise<Signer | Refusal> {
  const trusted = search.policy.keys.get(search.read.kid);
  const byTrusted = trusted && (await tryKeys(trusted, "trusted", search));
  if (byTrusted !== undefined && "form" in byTrusted) return byTrusted;
  const byRemote = await tryRemoteKeys(search);
  if (byTrusted === undefined || "form" in byRemote) return byRemote;
  return withoutKey.includes(byRemote.fault) ? byTrusted : (furthest([byTrusted, byRemote]) ?? byTrusted);
}

/** What is wrong when there is no key that could be tried. */
const withoutKey: readonly SignatureFault[] = ["key-unknown", "jku-not-allowed", "jwks-unavailable"];

async function tryRemoteKeys(search: Search): Promise<Signer | Refusal> {
  const { policy, cardUrl, askedKeySets } = search;
  const { kid, jku } = search.read;
  if (jku === undefined || policy.remote === undefined) {
    const problem = `none of the trusted keys has the id "${shownText(kid)}"`;
    const elsewhere = ", and the policy does not allow the key set that its header names (jku)";
    return { fault: "key-unknown", problem: jku === undefined ? problem : problem + elsewhere };
  }
  const url = checkJku(jku, policy.remote.hosts, cardUrl);
  if (typeof url === "string") return { fault: "jku-not-allowed", problem: url };
  if (!askedKeySets.has(url.href) && askedKeySets.size === maxKeySets) {
    const problem = `the card names more than ${maxKeySets} key sets; a verifier fetches no more than that`;
    return { fault: "jwks-unavailable", problem };
  }
  askedKeySets.add(url.href);
  const found = await policy.remote.keySets.find(url, kid, search);
  return found.fault === undefined ? await tryKeys(found.keys, url.href, search) : found;
}

/** @param keys at least one */
function tryKeys(
  keys: readonly VerificationKey[],
  keySource: Signer["keySource"],
  search: Search,
): Promise<Signer | Refusal> {
  const { card, cardUrl, signal } = search;
  return inSignatureTurn(cardUrl?.origin ?? card, signal, () => tryKeysNow(keys, keySource, search));
}

async function tryKeysNow(
  keys: readonly VerificationKey[],
  keySource: Signer["keySource"],
  search: Search,
): Promise<Signer | Refusal> {
  const judged = await Promise.all(keys.map((key) => judgeKey(key, search)));
  const refusals = judged.filter((each) => "fault" in each);
  const usable = judged.filter((each) => "cryptoKey" in each);
  for (const profile of search.read.profiles) {
    for (const { cryptoKey, thumbprint } of usable) {
      const form = await findForm(profile, cryptoKey, search);
      if (form !== undefined) return { form, thumbprint, keySource };
    }
  }
  const [first] = usable;
  if (first !== undefined) {
    const problem = await mismatchProblem(first.cryptoKey, search);
    return { fault: "signature-mismatch", problem }; // no other key came as far
  }
  const problem = `there is no key with the id "${shownText(search.read.kid)}"`;
  return furthest(refusals) ?? { fault: "key-unknown", problem };
}

/** Whether a key may have signed: then it is ready to be tried. */
async function judgeKey(
  key: VerificationKey,
  { policy, now, read }: Search,
): Promise<{ readonly cryptoKey: CryptoKey; readonly thumbprint: string } | Refusal> {
  const { alg, signature } = read;
  try {
    const thumbprint = await thumbprintOf(key);
    // What the policy knows of a key counts wherever the key comes from, and under any id (requirement M-4).
    const known = (await policy.keysByThumbprint).get(thumbprint) ?? [];
    for (const each of [key, ...known]) {
      const name = `the key "${shownText(each.kid)}"`;
      if (policy.revoked.has(each.kid) || policy.revoked.has(thumbprint)) {
        return { fault: "key-revoked", problem: `${name} is revoked by the policy` };
      }
      const found = findKeyTimeFault(each, now);
      if (found !== undefined) return { fault: found.fault, problem: `${name} ${found.problem}` };
    }
    const cryptoKey = await importVerificationKey(key, alg);
    const length = signatureLength(cryptoKey, algorithms[alg]);
    if (signature.length === length) return { cryptoKey, thumbprint };
    const form = algorithms[alg].kty === "EC" ? " (R and S, not DER)" : "";
    const problem = `it is ${signature.length} bytes long, but a signature with ${alg} and this key has ${length}${form}`;
    return { fault: "malformed-signature", problem };
  } catch (error) {
    if (!(error instanceof SigningError)) throw error;
    const problem = `the key "${shownText(key.kid)}" cannot have signed it: ${error.message}`;
    return { fault: "key-mismatch", problem };
  }
}

/** RSA signatures are as long as their key. */
function signatureLength({ algorithm }: CryptoKey, { crv }: AlgorithmEntry): number {
  if (crv !== undefined) return 2 * coordinateLengths[crv];
  return Math.ceil((algorithm as RsaHashedKeyAlgorithm).modulusLength / 8); // without a curve it is RSA
}

/** What of a card the key has signed, as a profile sees it; undefined when it has signed nothing of it. */
async function findForm(
  profile: Profile,
  key: CryptoKey,
  { card, read: { alg, protectedText, signature }, cardUrl, signal }: Search,
): Promise<SignedForm | undefined> {
  const { signParameters } = algorithms[alg];
  await cardTurn(cardUrl, signal);
  for (const form of card.forms(profile)) {
    const input = signingInput(protectedText, form);
    // An implementation may refuse to look at some bytes at all.
    if (await crypto.subtle.verify(signParameters, key, signature, input).catch(() => false)) return form;
  }
  return undefined;
}

/** Characters of a card that is written by profiles that the policy does not have: a large one takes long, only for better words. */
const maxOtherwiseWritten = 64 * 1024;

/** Of a card that is not large it looks, too, whether it would be right by a profile that the policy does not have, and says by which. */
async function mismatchProblem(key: CryptoKey, search: Search): Promise<string> {
  const { kid, profiles } = search.read;
  const name = `the key "${shownText(kid)}"`;
  const others = search.length > maxOtherwiseWritten ? [] : legacyProfiles;
  for (const profile of others.filter((each) => !profiles.includes(each))) {
    if ((await findForm(profile, key, search)) !== undefined) {
      return `${name} has signed this card only by the profile ${profile}, which the policy does not allow`;
    }
  }
  return `${name} has not signed this card as it stands (profiles tried: ${profiles.join(", ")})`;
}
