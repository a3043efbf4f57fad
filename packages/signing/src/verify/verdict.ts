import { formatFieldPath, shownItems, shownText } from "@a2a-connect/core/internal";
import type { Profile } from "../profiles/profile-card.ts";
import type { CardFault, SignatureFault } from "./faults.ts";

/** What became of one entry of `signatures`. */
export interface SignatureCheck {
  /** Its place in `signatures`. */
  readonly index: number;
  readonly valid: boolean;
  /** Whether it counts by the policy: it is valid, leaves out nothing that matters, and is by a signer who counts. */
  readonly counts: boolean;
  /** Whether it is valid, but leaves open what matters to security; it counts all the same where the policy allows that. */
  readonly hasGap: boolean;
  /** Of its protected header, as far as that could be read. */
  readonly kid: string | undefined;
  readonly alg: string | undefined;
  /** What was signed; undefined when it is not valid. */
  readonly profile: Profile | undefined;
  /** Paths of what it does not protect; empty when it is not valid. */
  readonly uncovered: readonly string[];
  /** SHA-256 thumbprint of the key that verified it (RFC 7638), base64url; undefined when none did. */
  readonly thumbprint: string | undefined;
  /** Where that key came from: the policy, or the URL of a key set. */
  readonly keySource: "trusted" | URL["href"] | undefined;
  readonly fault: SignatureFault | undefined;
  /** What is wrong with it, in a sentence without a full stop; undefined when nothing is. */
  readonly problem: string | undefined;
}

/** Something about a card that matters to security. */
export interface Finding {
  /** In a sentence. What it quotes of the card is short and has no control characters in it. */
  readonly text: string;
  /** Paths in the card that it is about, such as `securityRequirements[0]`; of what is gone, where it was. May be empty. */
  readonly paths: readonly string[];
}

/** Something that a person should look at, though the card may be in order. */
export interface CardAlarm extends Finding {
  readonly kind:
    | "first-use"
    | "pin-changed"
    | "security-too-weak"
    | "downgrade"
    /** The card has another name, a lower version, or leads to another place on a host that is known (`findMoves`). */
    | "moved"
    /** A profile that counts does not sign what is empty, so something empty may be gone. */
    | "removable"
    /** The card declares a security scheme that no requirement names. */
    | "unrequired-scheme"
    /** Another key than the known ones signs beside them, or has done so for long enough to be known, too. */
    | "signer-new"
    /** A known key has not signed. */
    | "signer-missing"
    /** Memory cannot help with this card: it came from no URL that agents are known by, or declares too much to be kept. */
    | "not-remembered";
}

/** What came of verifying a card. */
export interface CardVerdict {
  /** Whether the card may be used by the policy that was given. */
  readonly verified: boolean;
  /**
   * Of the best signature: the first valid one by the strictest profile, else the one that came furthest. `strict` is that the
   * specification's form was signed; where the policy also trusts signers who lose what is empty, and theirs is the same, the
   * alarm `removable` stands beside it.
   */
  readonly profile: Profile | undefined;
  readonly kid: string | undefined;
  readonly alg: string | undefined;
  /**
   * Paths of all that the best signature does not protect, cut off where they get long; under `strict` there is none. What may
   * have been taken out of the card has no path: of that the alarm `removable` tells.
   */
  readonly uncovered: readonly string[];
  /** Undefined when verified. */
  readonly reason: CardFault | undefined;
  /** The whole story in a sentence or two, for people. */
  readonly message: string;
  readonly signatures: readonly SignatureCheck[];
  readonly alarms: readonly CardAlarm[];
}

/** @param path names and indexes from the root of the card; none: it is about the whole card */
export function finding(text: string, ...path: readonly (string | number)[]): Finding {
  return { text, paths: path.length === 0 ? [] : [formatFieldPath(path)] };
}

/** A name or an address of a card as it may stand in a sentence: quoted, short, and nothing that a terminal obeys. */
export function quote(text: string): string {
  return JSON.stringify(shownText(text));
}

/** Names of a card in a sentence: `"a", "b" and 3 more`. */
export function quoteList(texts: readonly string[]): string {
  return shownItems(texts, 5, quote);
}

/** Paths in a sentence: `a, b and 3 more`. */
export function listPaths(paths: readonly string[], maxItems = 5): string {
  return shownItems(paths, maxItems);
}
