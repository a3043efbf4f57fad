import type { JsonObject } from "@bufbuild/protobuf";
import type { SignatureRecipe } from "./sign-vector.ts";
import type { CardSignature, Vector } from "./vector.ts";

/** From what one file is made. What is left out gets the default that `generate.ts` has for it. */
export interface VectorCase {
  /** Name of the file. */
  readonly name: string;
  readonly description: string;
  readonly rule: readonly string[];
  /** The card without its signatures. */
  readonly card?: JsonObject;
  /** Or its text, where the text matters; `$SIGNATURES` stands for the array of signatures. */
  readonly cardText?: string;
  readonly cardTextRepeat?: readonly [text: string, times: number];
  /** Its canonical text, by hand, or what is wrong with the text. Default: that of the base card. */
  readonly canonical?: string | { readonly fault: string };
  /** Whether the card has protobuf bytes that say the same. Default: when it has a `card`. */
  readonly representable?: boolean;
  /** Default: one by `es256-1`. */
  readonly signatures?: readonly SignatureRecipe[];
  /** Signatures that a software at large has made. */
  readonly made?: readonly CardSignature[];
  readonly signedBy?: string;
  readonly acceptedBy?: readonly string[];
  /** Default: all public keys that ours are made with. */
  readonly keys?: readonly JsonObject[];
  readonly url?: string;
  readonly policy?: JsonObject;
  readonly jwks?: Vector["jwks"];
  readonly asked?: readonly string[];
  /** Default: verified under `strict` whatever is enabled, by `es256-1`. */
  readonly expected?: Vector["expected"];
}

/** The protected header of most signatures. */
export const es256Header = { alg: "ES256", kid: "es256-1", typ: "JOSE" } satisfies JsonObject;

/** The signature of most vectors. */
export const es256: SignatureRecipe = { key: "es256-1", header: es256Header };
