import type { SignatureAlgorithm } from "../keys/algorithms.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import type { LegacyProfile } from "../profiles/profile-card.ts";
import type { CardMemory } from "./card-memory.ts";
import type { SchemeKind } from "./scheme.ts";

/** Which cards are trusted (`docs/trust.md`). Everything that is not allowed here is refused. */
export interface TrustPolicy {
  /** Public keys that are trusted wherever the card came from. Default none. */
  readonly keys?: readonly VerificationKey[];
  /** Key sets that signatures may name by `jku`. Default: no key set is fetched. */
  readonly jku?: JkuPolicy;
  /** Algorithms that count. Default all that are known. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /**
   * Keys that do not count any more. An id revokes the key of `keys` that has it, under any id. To revoke another key, give its
   * thumbprint (RFC 7638): an attacker publishes a stolen key under another id.
   */
  readonly revoked?: readonly string[];
  /** What else than `strict` counts. Default nothing. */
  readonly profiles?: readonly LegacyProfile[];
  /**
   * Whether a signature of a legacy profile counts although interfaces, schemes or requirements that it leaves out are in the card,
   * or may have been taken out of it. Default false.
   */
  readonly allowUncovered?: boolean;
  /** How many different keys must have signed, or of `signers`. The keys of every key set that is asked count. Default 1. */
  readonly minSigners?: number;
  /** Key ids or thumbprints of those who count for that. Default: every key that verifies. */
  readonly signers?: readonly string[];
  /** What must be declared. Default nothing. */
  readonly minimumSecurity?: MinimumSecurity;
  /**
   * Keeps the first keys of each agent (`cardMemoryKey`) and its last card. Cards of other keys are refused later (trust on first
   * use), and weaker cards. Default: nothing is remembered.
   */
  readonly memory?: CardMemory;
  /**
   * How long a key of a key set must have signed beside a known one before it is known, too, and how long a known one must have been
   * missing before it is forgotten, in milliseconds. Until then the alarms `signer-new` and `signer-missing` tell of it. Keys of the
   * policy are known at once. Default 24 h; 0: at once.
   */
  readonly newKeyDelayMs?: number;
  /** What becomes of a card that is weaker than the last one. Default `refuse`. */
  readonly onDowngrade?: "refuse" | "alarm";
}

/** Which key sets are fetched, and how: by https, but from this machine itself. */
export interface JkuPolicy {
  /**
   * Hosts, such as `keys.example.org:8443`, whose key sets are trusted for every card, at any path: do not name a host where
   * others can put files. Default: only the origin that the card itself came from.
   */
  readonly hosts?: readonly string[];
  /** Should refuse what is not public: `createGuardedFetch` of `@a2a-connect/node`. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch;
  /** Largest key set. Default 256 KiB. */
  readonly maxBytes?: number;
}

/** What a card must declare at least. */
export interface MinimumSecurity {
  /** Whether each requirement must name declared schemes, and there must be one. Default false. */
  readonly requirements?: boolean;
  /**
   * Whether all interfaces and all addresses of schemes must be reached by TLS, but those on this machine. gRPC's `host:port`
   * of an interface says nothing and passes, but for port 80. Default false.
   */
  readonly tls?: boolean;
  /**
   * Schemes of which every requirement must use one, such as `oauth2SecurityScheme`. One with the implicit or the password flow, which
   * OAuth 2.1 has given up, does not count. Default any.
   */
  readonly schemes?: readonly SchemeKind[];
}
