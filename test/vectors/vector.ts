import type { JsonObject } from "@bufbuild/protobuf";

/** The verdict on a card, as `a2a card verify -o json` writes it. */
export interface ExpectedVerdict {
  readonly verified: boolean;
  readonly profile: VectorProfile | null;
  readonly kid: string | null;
  readonly alg: string | null;
  readonly reason: string | null;
  /** Paths, in any order. */
  readonly uncovered: readonly string[];
}

export type VectorProfile = "strict" | "js-1" | "python-1" | "raw";

/** The four of them, in the order in which they are tried. */
export const vectorProfiles: readonly VectorProfile[] = ["strict", "js-1", "python-1", "raw"];

/** What the network answers for one URL. */
export interface NetworkAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One file of `test/vectors/agent-card`; `schema.json` and `README.md` say what its members mean. */
export interface Vector {
  readonly description: string;
  readonly rule: readonly string[];
  readonly card?: JsonObject;
  readonly cardText?: string;
  readonly cardTextRepeat?: readonly [text: string, times: number];
  readonly protobuf?: string;
  readonly canonical: string | null;
  readonly canonicalFault?: string;
  readonly sha256: string | null;
  readonly keys: { readonly keys: readonly JsonObject[] };
  readonly url?: string;
  readonly now: string;
  readonly policy: JsonObject;
  readonly jwks?: Readonly<Record<string, NetworkAnswer>>;
  readonly asked?: readonly string[];
  readonly signedBy?: string;
  readonly acceptedBy?: readonly string[];
  readonly expected: Readonly<Record<VectorProfile, ExpectedVerdict>>;
}

/** One signature of a card, as it stands in `signatures`. */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
  readonly header?: JsonObject;
}
