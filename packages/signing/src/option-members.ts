import type {
  CreateKeySetOptions,
  GenerateKeyOptions,
  PublicKeyOptions,
  ReadVerificationKeysOptions,
} from "./keys/key-types.ts";
import type { CardSignerOptions, SignatureOptions, SignCardOptions } from "./sign/sign-options.ts";
import { SigningError } from "./signing-error.ts";
import type { CardMemoryLimits } from "./trust/card-memory.ts";
import type { JkuPolicy, MinimumSecurity, TrustCardsOptions, TrustPolicy } from "./trust/trust-policy.ts";
import type { VerificationContext, VerifyCardOptions } from "./verify/verify-options.ts";

// Each names all members of its type: a new one that is not named here does not compile.
type Members<T> = Readonly<Record<keyof T, true>>;

const context: Members<VerificationContext> = {
  url: true,
  asked: true,
  extended: true,
  now: true,
  fetch: true,
  signal: true,
  maxLength: true,
};
const signature: Members<SignatureOptions> = {
  jku: true,
  header: true,
  legacyVerifiers: true,
  onWarning: true,
};
const signer: Members<CardSignerOptions> = { key: true, kid: true, alg: true, publicKey: true };

/** What those write who verify, by what it is called. Of a member that stands in several, the first one is told. */
interface TrustObjects {
  trustPolicy: TrustPolicy;
  "jku of a trust policy": JkuPolicy;
  "minimumSecurity of a trust policy": MinimumSecurity;
  "the options of verifyCard": VerifyCardOptions;
  "what a verifier is told of a card": VerificationContext;
  "the options of createCardVerifier": Pick<VerificationContext, "now">;
  "the options of trustCards": TrustCardsOptions;
  "the limits of a card memory": CardMemoryLimits;
}

/** What those write who sign and make keys. */
interface SigningObjects {
  "the options of createCardSigner": CardSignerOptions;
  "the options of signCard": SignatureOptions & CardSignerOptions & Pick<SignCardOptions, "signer">;
  "the options of signCard with a signer": SignatureOptions & Pick<SignCardOptions, "key" | "signer">;
  "the options of generateSigningKey": GenerateKeyOptions;
  "the options of publicKeyOf": PublicKeyOptions;
  "the options of createKeySet": CreateKeySetOptions;
  "the options of readVerificationKeys": ReadVerificationKeysOptions;
}

type MembersOf<Objects> = { readonly [Kind in keyof Objects]: Members<Objects[Kind]> };

const trustMembers: MembersOf<TrustObjects> = {
  trustPolicy: {
    keys: true,
    jku: true,
    algorithms: true,
    revoked: true,
    profiles: true,
    allowUncovered: true,
    minSigners: true,
    signers: true,
    minimumSecurity: true,
    memory: true,
    newKeyDelayMs: true,
    onDowngrade: true,
    onPinChanged: true,
  },
  "jku of a trust policy": {
    hosts: true,
    fetch: true,
    timeoutMs: true,
    maxBytes: true,
    ttlMs: true,
    coolDownMs: true,
  },
  "minimumSecurity of a trust policy": { requirements: true, tls: true, schemes: true },
  "the options of verifyCard": { ...context, keys: true, trustPolicy: true },
  "what a verifier is told of a card": context,
  "the options of createCardVerifier": { now: true },
  "the options of trustCards": { onAlarm: true, onVerified: true, now: true, fetch: true },
  "the limits of a card memory": { maxCards: true, maxLength: true },
};

const signingMembers: MembersOf<SigningObjects> = {
  "the options of createCardSigner": signer,
  "the options of signCard": { ...signature, ...signer, signer: true },
  "the options of signCard with a signer": { ...signature, key: true, signer: true },
  "the options of generateSigningKey": { alg: true, kid: true },
  "the options of publicKeyOf": { kid: true, alg: true },
  "the options of createKeySet": { now: true },
  "the options of readVerificationKeys": { kid: true },
};

/**
 * Refuses members that would not be read: one that is misspelled, or stands in the wrong place, would protect nothing,
 * and they would not notice. Members that are undefined say nothing.
 *
 * @throws TypeError that names the member, and where it belongs
 */
export function checkMembers(kind: keyof TrustObjects, value: object): void {
  const problem = findProblem(trustMembers, kind, value);
  if (problem !== undefined) {
    throw new TypeError(problem);
  }
}

/** The same for those who sign or make keys. @throws SigningError */
export function checkSigningMembers(kind: keyof SigningObjects, value: object): void {
  const problem = findProblem(signingMembers, kind, value);
  if (problem !== undefined) {
    throw new SigningError(problem, "take it out, or put it where it belongs");
  }
}

function findProblem<Kind extends string>(
  all: Readonly<Record<Kind, Readonly<Record<string, true>>>>,
  kind: Kind,
  value: unknown,
): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${kind}: must be an object`;
  }
  const own = all[kind];
  const stray = Object.entries(value).find(
    ([member, said]) => said !== undefined && !Object.hasOwn(own, member),
  )?.[0];
  if (stray === undefined) {
    return undefined;
  }
  const name = JSON.stringify(stray);
  const place = Object.entries<Readonly<Record<string, true>>>(all).find(([, members]) =>
    Object.hasOwn(members, stray),
  )?.[0];
  return place === undefined
    ? `${name} is no member of ${kind}, whose members are ${Object.keys(own).join(", ")}`
    : `${name} belongs in ${place}, not in ${kind}`;
}
