import type {
  CreateKeySetOptions,
  GenerateKeyOptions,
  PublicKeyOptions,
  ReadVerificationKeysOptions,
} from "./keys/key-options.ts";
import { SigningError } from "./keys/key-options.ts";
import type { CardSignerOptions, SignatureOptions, SignCardOptions } from "./sign/sign-options.ts";
import type { CardMemoryLimits } from "./trust/card-memory.ts";
import type { JkuPolicy, MinimumSecurity, TrustCardsOptions, TrustPolicy } from "./trust/trust-policy.ts";
import type { VerificationContext, VerifyCardOptions } from "./verify/verify-options.ts";

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The names of all members of a type, as a list of words: one that is missing or too many does not compile. */
function membersOf<T>() {
  return <const Text extends string>(
    text: [Words<Text>, keyof T] extends [keyof T, Words<Text>] ? Text : never,
  ): ReadonlySet<string> => new Set(text.split(" "));
}

/** By what each object is called. */
type MemberTable = Readonly<Record<string, ReadonlySet<string>>>;

/** Of a member that stands in several, the first one is told. */
const trustMembers: MemberTable = {
  trustPolicy: membersOf<TrustPolicy>()(
    "keys jku algorithms revoked profiles allowUncovered minSigners signers minimumSecurity memory newKeyDelayMs onDowngrade onPinChanged",
  ),
  "jku of a trust policy": membersOf<JkuPolicy>()("hosts fetch timeoutMs maxBytes ttlMs coolDownMs"),
  "minimumSecurity of a trust policy": membersOf<MinimumSecurity>()("requirements tls schemes"),
  "the options of verifyCard": membersOf<VerifyCardOptions>()(
    "url asked extended now fetch signal maxLength keys trustPolicy",
  ),
  "what a verifier is told of a card": membersOf<VerificationContext>()(
    "url asked extended now fetch signal maxLength",
  ),
  "the options of createCardVerifier": membersOf<Pick<VerificationContext, "now">>()("now"),
  "the options of trustCards": membersOf<TrustCardsOptions>()("onAlarm onVerified now fetch"),
  "the limits of a card memory": membersOf<CardMemoryLimits>()("maxCards maxLength"),
};

/** The same of those who sign or make keys. */
const signingMembers: MemberTable = {
  "the options of createCardSigner": membersOf<CardSignerOptions>()("key kid alg publicKey"),
  "the options of signCard": membersOf<
    SignatureOptions & CardSignerOptions & Pick<SignCardOptions, "signer">
  >()("jku header legacyVerifiers onWarning key kid alg publicKey signer"),
  "the options of signCard with a signer": membersOf<SignCardOptions>()(
    "jku header legacyVerifiers onWarning key signer",
  ),
  "the options of generateSigningKey": membersOf<GenerateKeyOptions>()("alg kid"),
  "the options of publicKeyOf": membersOf<PublicKeyOptions>()("kid alg"),
  "the options of createKeySet": membersOf<CreateKeySetOptions>()("now"),
  "the options of readVerificationKeys": membersOf<ReadVerificationKeysOptions>()("kid"),
};

/**
 * Refuses members that would not be read: one that is misspelled, or stands in the wrong place, would protect nothing, and its
 * author would not notice. Members that are undefined say nothing.
 *
 * @param kind a name of one of the tables
 * @throws TypeError that names the member, and where it belongs; for those who sign or make keys SigningError
 */
export function checkMembers(kind: string, value: object): void {
  const isSigning = Object.hasOwn(signingMembers, kind);
  const problem = findProblem(isSigning ? signingMembers : trustMembers, kind, value);
  if (problem === undefined) return;
  if (isSigning) throw new SigningError(problem, "take it out, or put it where it belongs");
  throw new TypeError(problem);
}

function findProblem(table: MemberTable, kind: string, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `${kind}: must be an object`;
  const own = table[kind] ?? new Set();
  const [stray] =
    Object.entries(value).find(([member, said]) => said !== undefined && !own.has(member)) ?? [];
  if (stray === undefined) return undefined;
  const [place] = Object.entries(table).find(([, members]) => members.has(stray)) ?? [];
  return place === undefined
    ? `${JSON.stringify(stray)} is no member of ${kind}, whose members are ${[...own].join(", ")}`
    : `${JSON.stringify(stray)} belongs in ${place}, not in ${kind}`;
}
