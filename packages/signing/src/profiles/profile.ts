/**
 * How the bytes that were signed are made from a card. `strict` is what the specification says (§8.4.1, requirements M); the
 * others are what deployed software does instead, and count only when they are asked for by name:
 *
 * - `js-1`: `@a2a-js/sdk` 1.x, and `a2a-sdk` of Python from 1.1.4 on. Whatever is empty is left out, everywhere.
 * - `python-1`: `a2a-sdk` of Python before that: as `js-1`, but written by `json.dumps`.
 * - `raw`: RFC 8785 over the JSON as it stands, without its signatures.
 */
export type Profile = "strict" | LegacyProfile;

/** A profile that is off by default. */
export type LegacyProfile = "js-1" | "python-1" | "raw";

/** What a profile makes of a card. */
export interface ProfiledCard {
  /** What is signed: the JWS payload before base64url. */
  readonly payload: string;
  /**
   * Paths of what stands in the card and not in the payload, such as `skills[0].tags`: whoever changed the card could have put
   * it there. Each names the outermost value that is left out, whole and unmerged; only when the list would be far longer than the
   * card, some name the member of the card that holds such values.
   */
  readonly uncovered: readonly string[];
}
