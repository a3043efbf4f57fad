import { shownText } from "@a2a-connect/core";
import type { JsonValue } from "@bufbuild/protobuf";
import type { CryptoKey } from "jose";
import { algorithms } from "../keys/algorithms.ts";
import { importVerificationKey, thumbprintOf } from "../keys/key.ts";
import { checkJku } from "../keys/key-set-url.ts";
import type { VerificationKey } from "../keys/key-types.ts";
import type { Profile } from "../profiles/profile.ts";
import { legacyProfiles } from "../profiles/profile-card.ts";
import { SigningError } from "../signing-error.ts";
import { furthest } from "./fault-order.ts";
import { findKeyFault, type Refusal } from "./key-fault.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import { type ReadableSignature, readSignatureEntry } from "./signature-entry.ts";
import { type SignedCard, type SignedForm, signingInput } from "./signed-card.ts";
import type { SignatureCheck, SignatureFault } from "./verdict.ts";

/** What a signature is checked by. */
export interface SignatureContext {
  readonly policy: PreparedPolicy;
  /** Where the card came from, when that is known. */
  readonly cardUrl: URL | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal | undefined;
  /** Fetches key sets when the policy does not say what does. */
  readonly fetch: typeof globalThis.fetch | undefined;
  /** The key sets that this card has made us ask, by their URL. */
  readonly askedKeySets: Set<string>;
  /** What came of each header and signature: the same may stand on a card many times. */
  readonly found: Map<string, Promise<Outcome>>;
}

/** Key sets that one card can make us ask: it is somebody else who wrote it. */
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
  card: SignedCard,
  context: SignatureContext,
): Promise<SignatureCheck> {
  const read = readSignatureEntry(entry, context.policy);
  if (!read.ok) {
    const { fault, problem, alg, kid } = read;
    return { index, valid: false, kid, alg, ...nobody, fault, problem };
  }
  const { found } = context;
  const text = `${read.protectedText}.${read.signatureText}`;
  const finding = found.get(text) ?? findSigner(read, card, context);
  found.set(text, finding);
  const outcome = await finding;
  const { alg, kid } = read;
  return "signer" in outcome
    ? { index, valid: true, kid, alg, ...nobody, ...outcome.signer }
    : { index, valid: false, kid, alg, ...nobody, fault: outcome.fault, problem: outcome.problem };
}

const nobody = {
  profile: undefined,
  uncovered: [],
  thumbprint: undefined,
  keySource: undefined,
  fault: undefined,
  problem: undefined,
};

/** Who has signed, and what. */
interface Signer {
  readonly profile: Profile;
  readonly uncovered: readonly string[];
  readonly thumbprint: string;
  readonly keySource: "trusted" | URL["href"];
}

/** Who has signed, or why nobody has that counts. */
export type Outcome = { readonly signer: Signer } | Refusal;

async function findSigner(
  read: ReadableSignature,
  card: SignedCard,
  context: SignatureContext,
): Promise<Outcome> {
  const trusted = context.policy.keys.get(read.kid) ?? [];
  const byTrusted = trusted.length === 0 ? undefined : await tryKeys(trusted, "trusted", read, card, context);
  if (byTrusted !== undefined && "signer" in byTrusted) return byTrusted;
  const byRemote = await tryRemoteKeys(read, card, context);
  if (byTrusted === undefined || "signer" in byRemote) return byRemote;
  return withoutKey.includes(byRemote.fault) ? byTrusted : (furthest([byTrusted, byRemote]) ?? byTrusted);
}

/** What is wrong when there is no key that could be tried. */
const withoutKey: readonly SignatureFault[] = ["key-unknown", "jku-not-allowed", "jwks-unavailable"];

async function tryRemoteKeys(
  read: ReadableSignature,
  card: SignedCard,
  context: SignatureContext,
): Promise<Outcome> {
  const { policy, cardUrl, now, signal, fetch, askedKeySets } = context;
  const { kid, jku } = read;
  if (jku === undefined || policy.remote === undefined) {
    const elsewhere =
      jku === undefined
        ? ""
        : ", and the policy does not let the key set be asked that its header names (jku)";
    return {
      fault: "key-unknown",
      problem: `none of the trusted keys has the id "${shownText(kid)}"${elsewhere}`,
    };
  }
  const allowed = checkJku(jku, policy.remote.hosts, cardUrl);
  if (!allowed.ok) {
    return { fault: "jku-not-allowed", problem: allowed.problem };
  }
  const { url } = allowed;
  if (!askedKeySets.has(url.href) && askedKeySets.size === maxKeySets) {
    return {
      fault: "jwks-unavailable",
      problem: `the card names more than ${maxKeySets} key sets, and no more are asked`,
    };
  }
  askedKeySets.add(url.href);
  const found = await policy.remote.keySets.find(url, kid, { now, signal, fetch });
  return found.ok ? await tryKeys(found.keys, url.href, read, card, context) : found;
}

/** A key that may have signed. */
interface UsableKey {
  readonly cryptoKey: CryptoKey;
  readonly thumbprint: string;
}

/** @param keys at least one */
async function tryKeys(
  keys: readonly VerificationKey[],
  keySource: Signer["keySource"],
  read: ReadableSignature,
  card: SignedCard,
  context: SignatureContext,
): Promise<Outcome> {
  const refusals: Refusal[] = [];
  const usable: UsableKey[] = [];
  for (const key of keys) {
    const judged = await judgeKey(key, read, context);
    if ("fault" in judged) refusals.push(judged);
    else usable.push(judged);
  }
  for (const profile of read.profiles) {
    for (const { cryptoKey, thumbprint } of usable) {
      const form = await findForm(read, profile, cryptoKey, card);
      if (form !== undefined)
        return { signer: { profile, uncovered: form.uncovered, thumbprint, keySource } };
    }
  }
  const [first] = usable;
  if (first !== undefined) {
    refusals.push({ fault: "signature-mismatch", problem: await mismatchProblem(read, first, card) });
  }
  return (
    furthest(refusals) ?? {
      fault: "key-unknown",
      problem: `there is no key with the id "${shownText(read.kid)}"`,
    }
  );
}

async function judgeKey(
  key: VerificationKey,
  { alg, signature }: ReadableSignature,
  { policy, now }: SignatureContext,
): Promise<UsableKey | Refusal> {
  try {
    const thumbprint = await thumbprintOf(key);
    // What we know of a key counts wherever it comes from, and by whatever id (requirement M-4).
    const known = await findSameKeys(thumbprint, policy);
    for (const each of [key, ...known]) {
      const refusal = findKeyFault(each, thumbprint, policy, now);
      if (refusal !== undefined) return refusal;
    }
    const cryptoKey = await importVerificationKey(key, alg);
    const length = algorithms[alg].signatureLength ?? modulusBytes(cryptoKey);
    if (signature.length !== length) {
      const form = algorithms[alg].kty === "EC" ? " (R and S, not DER)" : "";
      const problem = `it is ${signature.length} bytes long, and one by ${alg} and this key has ${length}${form}`;
      return { fault: "malformed-signature", problem };
    }
    return { cryptoKey, thumbprint };
  } catch (error) {
    if (!(error instanceof SigningError)) throw error;
    return {
      fault: "key-mismatch",
      problem: `the key "${shownText(key.kid)}" cannot have signed it: ${error.message}`,
    };
  }
}

/** The trusted keys that are this one, under whatever id. */
async function findSameKeys(thumbprint: string, policy: PreparedPolicy): Promise<readonly VerificationKey[]> {
  const sorting = byThumbprint.get(policy) ?? sortByThumbprint(policy);
  byThumbprint.set(policy, sorting);
  return (await sorting).get(thumbprint) ?? [];
}

type KeysByThumbprint = ReadonlyMap<string, readonly VerificationKey[]>;

const byThumbprint = new WeakMap<PreparedPolicy, Promise<KeysByThumbprint>>();

async function sortByThumbprint({ keys }: PreparedPolicy): Promise<KeysByThumbprint> {
  const sorted = new Map<string, VerificationKey[]>();
  for (const key of [...keys.values()].flat()) {
    const thumbprint = await thumbprintOf(key).catch(() => undefined); // one that is none is nobody's
    if (thumbprint === undefined) continue;
    const same = sorted.get(thumbprint);
    if (same === undefined) sorted.set(thumbprint, [key]);
    else same.push(key);
  }
  return sorted;
}

function modulusBytes({ algorithm }: CryptoKey): number {
  const { modulusLength } = algorithm as RsaHashedKeyAlgorithm; // only RSA signatures are as long as their key
  return Math.ceil(modulusLength / 8);
}

/** What of a card the key has signed, as a profile sees it; undefined when it has signed nothing of it. */
async function findForm(
  { alg, protectedText, signature }: ReadableSignature,
  profile: Profile,
  key: CryptoKey,
  card: SignedCard,
): Promise<SignedForm | undefined> {
  const { signParameters } = algorithms[alg];
  for (const form of card.forms(profile)) {
    try {
      if (await crypto.subtle.verify(signParameters, key, signature, signingInput(protectedText, form))) {
        return form;
      }
    } catch {
      return undefined; // what an implementation will not even look at
    }
  }
  return undefined;
}

/** Looks, too, whether it would be right by a profile that the policy does not have: then it says by which. */
async function mismatchProblem(
  read: ReadableSignature,
  { cryptoKey }: UsableKey,
  card: SignedCard,
): Promise<string> {
  const name = `the key "${shownText(read.kid)}"`;
  for (const profile of legacyProfiles) {
    const isTried = read.profiles.includes(profile);
    if (!isTried && (await findForm(read, profile, cryptoKey, card)) !== undefined) {
      return `${name} has signed this card only by the profile ${profile}, which the policy does not have`;
    }
  }
  return `${name} has not signed this card as it stands (tried: ${read.profiles.join(", ")})`;
}
