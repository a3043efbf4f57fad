import type { CardSignerOptions } from "@a2a-connect/signing/internal";
import type { JsonObject } from "@bufbuild/protobuf";

/** How the cards of a server are signed. */
export interface CardSigning {
  /** At least one that signs. Each that does adds a signature, in this order. */
  readonly keys: readonly CardSigningKey[];
  /**
   * Where verifiers find the public keys: `true` is this server's own `/.well-known/jwks.json` at the URL that the card names,
   * left out where that is plain http to another machine, because no verifier would ask there; a text is another key set.
   * `false`: the card does not say. Default true.
   */
  readonly jku?: boolean | string;
  /** Unprotected header of every signature: anybody may change it. */
  readonly header?: JsonObject;
}

/** A key of a server; its public side stands in `/.well-known/jwks.json`. One that does not let that out needs `publicKey`. */
export interface CardSigningKey extends CardSignerOptions {
  /**
   * Until when a key that signs no more still verifies what it has signed. Until then it stands in the key set with that date as
   * `exp`, afterwards no more. Undefined: it signs.
   */
  readonly retiredUntil?: Date;
}
