import type { VerificationKey } from "../keys/key-types.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";

/** By what a card is verified: keys alone, or a whole policy. */
export type VerifyCardOptions = VerificationContext &
  (
    | { readonly keys: readonly VerificationKey[]; readonly trustPolicy?: undefined }
    | { readonly trustPolicy: TrustPolicy; readonly keys?: undefined }
  );

/** What is known of a card beside its text. */
export interface VerificationContext {
  /**
   * Where the card came from. Its origin is where `jku` may point to by default, and by what the card is remembered. Without it
   * nothing is fetched that `jku.hosts` does not name, and nothing remembered.
   */
  readonly url?: string | URL;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Stops fetching key sets. */
  readonly signal?: AbortSignal;
  /** Largest card, in UTF-16 code units. Default 1,048,576. */
  readonly maxLength?: number;
}
