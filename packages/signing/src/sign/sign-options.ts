import type { JsonObject } from "@bufbuild/protobuf";
import type { SignatureAlgorithm, SigningKey } from "../keys/key-types.ts";
import type { LegacyProfile } from "../profiles/profile.ts";

/** How one signature is made. */
export interface SignCardOptions {
  readonly key: SigningKey;
  /** Id of the key. Default: the JWK's own, else its thumbprint (RFC 7638). Needed for keys that are no JWK or PEM. */
  readonly kid?: string;
  /** Default: what the key says or is made for; ES256 for P-256. Needed when somebody else signs. */
  readonly alg?: SignatureAlgorithm;
  /** URL of the key set that has the public key. */
  readonly jku?: string;
  /** Unprotected header: anybody may change it. */
  readonly header?: JsonObject;
  /** Verifiers whose gaps are warned of. Default: all that are known to have some. */
  readonly legacyVerifiers?: readonly LegacyProfile[];
  /** Told, in a sentence each, which fields those verifiers would leave uncovered. */
  readonly onWarning?: (warning: string) => void;
}
