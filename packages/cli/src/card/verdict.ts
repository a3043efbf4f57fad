import { type CardVerdict, thumbprintOf, type VerificationKey } from "@a2a-connect/signing";
import type { CardAlarm, LegacyProfile, SignatureCheck } from "@a2a-connect/signing/internal";
import type { Finding } from "../doctor/findings.ts";
import type { GivenKeys } from "../keys/given-keys.ts";
import type { CardSource } from "./card-source.ts";
import {
  type CardChange,
  findChanges,
  readSignatureHeaders,
  readSubject,
  type SignatureHeader,
} from "./card-text.ts";
import type { KnownAgent } from "./memory.ts";
import type { Proof } from "./trust-basis.ts";

/** A signature's verdict, what its header says, and what else is known of it. */
export interface SignatureReport extends Omit<SignatureCheck, keyof SignatureHeader>, SignatureHeader {
  /** Thumbprints of the keys that were there for it, when it is not valid. */
  readonly tried: readonly string[];
  /** When its key counts no more, ISO 8601; undefined when it does not say. */
  readonly expires: string | undefined;
}

/** By what a card was verified. */
export interface AppliedPolicy {
  readonly keys: GivenKeys;
  /** Whose key sets may be asked: hosts that were named, or the card's own origin. */
  readonly keySets: readonly string[] | "own-origin" | "none";
  /** Beside `strict`. */
  readonly profiles: readonly LegacyProfile[];
  readonly allowUncovered: boolean;
  readonly minSigners: number;
  readonly requireSecurity: boolean;
}

/** A verdict, and what people and programs want to know beside it. */
export interface VerdictReport {
  readonly verification: CardVerdict;
  readonly signatures: readonly SignatureReport[];
  readonly source: CardSource;
  /** The card's canonical form, and its SHA-256 in hexadecimal; undefined when it has none. */
  readonly canonical: string | undefined;
  readonly sha256: string | undefined;
  readonly policy: AppliedPolicy;
  /** On what the trust in the card rests; undefined when it is not verified. */
  readonly proof: Proof | undefined;
  readonly time: string;
  /** Why key sets could not be reached. */
  readonly lostKeySets: readonly Finding[];
  readonly known: KnownAgent | undefined;
}

/** The checks of a card's signatures with what else is known of them. @param keys all that were at hand, of any source */
export async function reportSignatures(
  { signatures }: CardVerdict,
  text: string,
  keys: readonly VerificationKey[],
): Promise<readonly SignatureReport[]> {
  const headers = readSignatureHeaders(text);
  const known = await Promise.all(
    // A key that cannot verify cards has no thumbprint.
    keys.map(async (key) => ({ ...key, thumbprint: await thumbprintOf(key).catch(() => undefined) })),
  );
  return signatures.map((check) => {
    const header = headers[check.index];
    const tried = check.valid ? [] : known.filter(({ kid }) => kid === header?.kid);
    const signer = known.find(({ thumbprint, exp }) => thumbprint === check.thumbprint && exp !== undefined);
    return {
      ...check,
      ...header,
      expires: check.thumbprint === undefined ? undefined : toTime(signer?.exp),
      tried: [...new Set(tried.flatMap(({ thumbprint }) => thumbprint ?? []))],
    };
  });
}

function toTime(seconds: number | undefined): string | undefined {
  const time = new Date((seconds ?? Number.NaN) * 1_000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Whether the card counts only because gaps were allowed that matter to security. */
export function hasGaps({ verification: { verified, signatures } }: VerdictReport): boolean {
  return verified && signatures.every(({ valid, hasGap }) => !valid || hasGap);
}

/** In what a refused card differs from the remembered one. */
export function changesOf({ verification, known, canonical }: VerdictReport): readonly CardChange[] {
  const outline = known?.remembered?.outline;
  if (verification.verified || canonical === undefined || outline === undefined) return [];
  return findChanges(outline, canonical);
}

/** Why the verdict is what it is, in a sentence or more: the library's words, with what only the command has looked for. */
export function tellStory({ verification, lostKeySets }: VerdictReport): string {
  const { message, reason } = verification;
  const lost = reason === "jwks-unavailable" ? lostKeySets[0] : undefined;
  if (lost === undefined) return message;
  return `${message} ${lost.what} (${lost.evidence})`;
}

/** What a person should look at: the library's own alarms, and that a known agent signs no more, the greatest of all downgrades. */
export function tellAlarms({
  verification,
  known,
}: VerdictReport): readonly (Omit<CardAlarm, "kind"> & { readonly kind: CardAlarm["kind"] | "unsigned" })[] {
  const { alarms, reason } = verification;
  const { remembered, key } = known ?? {};
  if (reason !== "no-signature" || remembered === undefined) return alarms;
  const { thumbprints, lastSeen } = remembered;
  const text = `Earlier cards of ${key} were signed by the key with thumbprint ${thumbprints.join(", ")}, last seen at ${lastSeen}; this one is not signed.`;
  return [{ kind: "unsigned", text, paths: ["signatures"] }, ...alarms];
}

/** The verdict as programs get it: null where there is nothing. */
export function toDocument(report: VerdictReport): Readonly<Record<string, unknown>> {
  const { verification, source, known, sha256, time } = report;
  const { verified, reason, profile, kid, alg, uncovered } = verification;
  const { firstSeen, lastSeen, thumbprints } = known?.remembered ?? {};
  const { name, version } = readSubject(source.text);
  return withNulls({
    verified,
    reason,
    message: tellStory(report),
    card: withNulls({ name, version }),
    source: source.url ?? source.name,
    sha256,
    time,
    trust: report.proof?.basis,
    profile,
    kid,
    alg,
    uncovered,
    // Names and types as they stand in the header: what makes them unfit for a terminal is escaped.
    signatures: report.signatures.map(
      ({ counts: _counts, hasGap: _hasGap, index, valid, fault, problem, kid, alg, typ, jku, ...others }) =>
        withNulls({ index, valid, fault, problem, kid, alg, typ, jku, ...others }),
    ),
    alarms: tellAlarms(report),
    remembered: thumbprints && { firstSeen, lastSeen, thumbprints },
    changes: changesOf(report).map((change) => withNulls({ ...change })),
  });
}

function withNulls(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, value ?? null]));
}
