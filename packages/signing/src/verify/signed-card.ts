import type { JsonObject } from "@bufbuild/protobuf";
import { pruneUnsigned } from "../canonical/canonical-card.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { base64urlLength, writeBase64url } from "../jws/base64url.ts";
import type { Profile, ProfiledCard } from "../profiles/profile.ts";
import { profileCard } from "../profiles/profile-card.ts";

/** Signatures that are looked at: more are on no card that is meant well. */
export const maxSignatures = 20;

/** One thing that may have been signed of a card, ready to be verified. */
export interface SignedForm {
  readonly payload: string;
  /** ASCII codes of base64url(payload), after a full stop: what follows the protected header in what is signed. */
  readonly tail: Uint8Array;
  /** Paths of what a signature of this form does not protect. */
  readonly uncovered: readonly string[];
}

/** A card that was read, and what was signed of it by each profile: made once, when it is asked for. */
export class SignedCard {
  /** As it was received. */
  readonly json: JsonObject;
  /** Without signatures and what says nothing (spec §8.4.1). */
  readonly unsigned: JsonObject;
  /** The text of that: what `strict` signs. */
  readonly canonical: string;
  #strict: SignedForm | undefined;
  readonly #forms = new Map<Profile, readonly SignedForm[]>();

  /**
   * @param json read by `readCardText`
   * @throws CardTextError when it has no canonical form
   */
  constructor(json: JsonObject) {
    this.json = json;
    this.unsigned = pruneUnsigned(json);
    this.canonical = writeCanonical(this.unsigned);
  }

  /** What is signed by the specification. */
  get strict(): SignedForm {
    this.#strict ??= readyForm({ payload: this.canonical, uncovered: [] });
    return this.#strict;
  }

  /** What a profile may have signed, the form that leaves out least first. */
  forms(profile: Profile): readonly SignedForm[] {
    let forms = this.#forms.get(profile);
    if (forms === undefined) {
      forms = this.#makeForms(profile);
      this.#forms.set(profile, forms);
    }
    return forms;
  }

  #makeForms(profile: Profile): readonly SignedForm[] {
    return profile === "strict" ? [this.strict] : profileCard(profile, this.json).map(readyForm);
  }
}

/** What is signed: the JWS Signing Input (RFC 7515 §5.2, step 8). */
export function signingInput(protectedText: string, { tail }: SignedForm): Uint8Array<ArrayBuffer> {
  const input = new Uint8Array(protectedText.length + tail.length);
  encoder.encodeInto(protectedText, input);
  input.set(tail, protectedText.length);
  return input;
}

function readyForm({ payload, uncovered }: ProfiledCard): SignedForm {
  return { payload, tail: tailOf(payload), uncovered };
}

const encoder = new TextEncoder();

const fullStop = 0x2e;

function tailOf(payload: string): Uint8Array {
  const bytes = encoder.encode(payload);
  const tail = new Uint8Array(1 + base64urlLength(bytes.length));
  tail[0] = fullStop;
  writeBase64url(bytes, tail, 1);
  return tail;
}
