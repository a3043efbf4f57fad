import { type CardVerdict, thumbprintOf, type VerificationKey } from "@a2a-connect/signing";
import type { LegacyProfile, SignatureCheck } from "@a2a-connect/signing/internal";
import type { CardChange, CardClaims, SignatureHeader } from "./card-text.ts";
import type { LostKeySet } from "./key-set-log.ts";
import type { KnownAgent } from "./memory.ts";

/** Something that a person should look at: the library's own alarms, and those that only the command knows. */
export interface VerdictAlarm {
  readonly kind: string;
  readonly text: string;
  readonly paths: readonly string[];
}

/** What is known of a signature beside its verdict. */
export interface SignatureReport extends SignatureCheck {
  readonly header: SignatureHeader | undefined;
  /** Thumbprints of the keys that were there for it, when it is not valid. */
  readonly tried: readonly string[];
  /** When its key counts no more, ISO 8601; undefined when it does not say. */
  readonly expires: string | undefined;
}

/** Whose word the verdict is: that of a key that was given, of the card's own origin, or of a host that was named. */
export type TrustBasis = "given-key" | "own-origin" | "named-host";

/** What a signature that is wrong by the profiles that count would be by another one. */
export interface FittingProfile {
  readonly profile: LegacyProfile;
  /** Paths of what it would leave unprotected. */
  readonly uncovered: readonly string[];
  /** Whether what it leaves open matters so much to security that it would be refused all the same. */
  readonly isRefused: boolean;
}

/** By what a card was verified, in words. */
export interface AppliedPolicy {
  /** Names of the keys. */
  readonly keys: readonly string[];
  /** Whose key sets may be asked: hosts that were named, or the card's own origin. */
  readonly keySets: readonly string[] | "own-origin" | "none";
  /** Beside `strict`. */
  readonly profiles: readonly string[];
  readonly allowUncovered: boolean;
  readonly minSigners: number;
  readonly requireSecurity: boolean;
}

/** A verdict, and everything that people and programs want to know beside it. */
export interface VerdictReport {
  readonly verification: CardVerdict;
  /** The whole story, for people: the library's, and what only the command knows. */
  readonly message: string;
  readonly signatures: readonly SignatureReport[];
  readonly alarms: readonly VerdictAlarm[];
  /** Where the card came from, for people. */
  readonly name: string;
  /** The same as a URL; undefined for a file. */
  readonly url: string | undefined;
  /** What was asked for it; undefined for a file. */
  readonly asked: string | undefined;
  /** What the card calls itself. */
  readonly subject: { readonly name?: string; readonly version?: string };
  /** SHA-256 of its canonical form, in hexadecimal; undefined when it has none. */
  readonly sha256: string | undefined;
  /** Undefined when it has no canonical form. */
  readonly claims: CardClaims | undefined;
  /** The signature on which the trust in the card rests; undefined when it is not verified. */
  readonly proof: SignatureCheck | undefined;
  /** Whose word that is. */
  readonly trust: TrustBasis | undefined;
  readonly policy: AppliedPolicy;
  /** Which of the keys that were given this is, for people; undefined for a key of a key set. */
  readonly keyName: (thumbprint: string) => string | undefined;
  /** When it was verified, ISO 8601. */
  readonly time: string;
  /** Whether the signature counts although it leaves out what matters to security. */
  readonly hasGaps: boolean;
  readonly fits: FittingProfile | undefined;
  readonly lostKeySets: readonly LostKeySet[];
  /** Undefined without a memory. */
  readonly known: KnownAgent | undefined;
  /** In what a refused card differs from the remembered one. */
  readonly changes: readonly CardChange[];
}

/**
 * The verdicts of a card's signatures with what else is known of them: what their headers say, which keys were tried in vain, and
 * until when the right ones count.
 *
 * @param keys all that were at hand, of whatever source
 */
export async function reportSignatures(
  { signatures }: CardVerdict,
  headers: readonly SignatureHeader[],
  keys: readonly VerificationKey[],
): Promise<readonly SignatureReport[]> {
  const known = await Promise.all(
    keys.map(async (key) => ({ key, thumbprint: await thumbprintOrNone(key) })),
  );
  return signatures.map((verdict) => {
    const header = headers[verdict.index];
    const tried = verdict.valid ? [] : known.filter(({ key }) => key.kid === header?.kid);
    const signer = known.find(
      ({ key, thumbprint }) => thumbprint === verdict.thumbprint && key.exp !== undefined,
    );
    return {
      ...verdict,
      header,
      tried: [...new Set(tried.flatMap(({ thumbprint }) => thumbprint ?? []))],
      expires: verdict.thumbprint === undefined ? undefined : toTime(signer?.key.exp),
    };
  });
}

/** One that cannot verify cards has none. */
async function thumbprintOrNone(key: VerificationKey): Promise<string | undefined> {
  return await thumbprintOf(key).catch(() => undefined);
}

/** @param seconds since 1970 */
function toTime(seconds: number | undefined): string | undefined {
  const time = new Date((seconds ?? Number.NaN) * 1_000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The verdict as programs get it: null where there is nothing. */
export function toDocument(report: VerdictReport): Readonly<Record<string, unknown>> {
  const { verification, message, subject, name, url, sha256, trust, time, known } = report;
  const { verified, reason, profile, kid, alg, uncovered } = verification;
  return withNulls({
    verified,
    reason,
    message,
    card: withNulls({ name: subject.name, version: subject.version }),
    source: url ?? name,
    sha256,
    time,
    trust,
    profile,
    kid,
    alg,
    uncovered,
    signatures: report.signatures.map(signatureDocument),
    alarms: report.alarms,
    remembered:
      known?.remembered === undefined
        ? undefined
        : {
            firstSeen: known.remembered.firstSeen,
            lastSeen: known.remembered.lastSeen,
            thumbprints: known.remembered.thumbprints,
          },
    changes: report.changes.map((change) => withNulls({ ...change })),
  });
}

function signatureDocument({ header, ...verdict }: SignatureReport): Readonly<Record<string, unknown>> {
  const { index, valid, fault, problem, profile, uncovered, thumbprint, keySource, tried, expires } = verdict;
  return withNulls({
    index,
    valid,
    fault,
    problem,
    // As they stand there: what makes them unfit for a terminal is escaped.
    kid: header?.kid ?? verdict.kid,
    alg: header?.alg ?? verdict.alg,
    typ: header?.typ,
    jku: header?.jku,
    profile,
    uncovered,
    thumbprint,
    keySource,
    expires,
    tried,
  });
}

function withNulls(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, value ?? null]));
}
