import type { VerificationKey } from "../keys/key-options.ts";
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
  readonly url?: string | URL | undefined;
  /**
   * The URL that was asked for, when redirects led from there to `url`: by that the card is remembered, since the server
   * chooses where it redirects to. Default `url`.
   */
  readonly asked?: string | URL | undefined;
  /**
   * Whether it is the extended card of the agent whose public card is at `url`. When the policy's memory knows that agent, one of
   * the keys that it is known by must have signed this, too; without a memory, or before the public card was verified with it, any key
   * will do that the policy trusts. What is in it depends on who asks, so that it is not remembered. Default false.
   */
  readonly extended?: boolean | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /**
   * Fetches key sets, when the policy has no `jku.fetch`; should refuse what is not public, as that. What was fetched is kept with
   * the policy, for all callers. Default the platform's.
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Stops fetching key sets, and waiting for the memory. */
  readonly signal?: AbortSignal | undefined;
  /** Largest card, in UTF-16 code units. Default 1,048,576. */
  readonly maxLength?: number | undefined;
}
