import type { CardVerdict } from "@a2a-connect/signing";
import type { SignatureCheck } from "@a2a-connect/signing/internal";
import type { CardChange } from "./card-change.ts";
import type { CardClaims } from "./card-claims.ts";
import type { FittingProfile } from "./fitting-profile.ts";
import type { LostKeySet } from "./key-set-log.ts";
import type { KnownAgent } from "./known-agent.ts";
import type { SignatureHeader } from "./signature-header.ts";

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
