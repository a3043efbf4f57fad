import type { JsonObject } from "@bufbuild/protobuf";
import { pruneUnsigned } from "../canonical/canonical-card.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { base64urlLength, writeBase64url } from "../jws/base64url.ts";
import type { Profile } from "../profiles/profile.ts";
import { profileCard } from "../profiles/profile-card.ts";

/** What a profile makes of a card, ready to be verified. */
interface SignedPayload {
  /** ASCII codes of base64url(payload), after a full stop: what follows the protected header in what is signed. */
  readonly tail: Uint8Array;
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
  readonly #payloads = new Map<Profile, SignedPayload>();

  /**
   * @param json read by `readCardText`
   * @throws CardTextError when it has no canonical form
   */
  constructor(json: JsonObject) {
    this.json = json;
    this.unsigned = pruneUnsigned(json);
    this.canonical = writeCanonical(this.unsigned);
  }

  /** What is signed (JWS Signing Input, RFC 7515 §5.2 step 8). */
  signingInput(profile: Profile, protectedText: string): Uint8Array<ArrayBuffer> {
    const { tail } = this.#payload(profile);
    const input = new Uint8Array(protectedText.length + tail.length);
    encoder.encodeInto(protectedText, input);
    input.set(tail, protectedText.length);
    return input;
  }

  /** Paths of what a signature by this profile does not protect. */
  uncovered(profile: Profile): readonly string[] {
    return this.#payload(profile).uncovered;
  }

  #payload(profile: Profile): SignedPayload {
    const known = this.#payloads.get(profile);
    if (known !== undefined) return known;
    const made = this.#makePayload(profile);
    this.#payloads.set(profile, made);
    return made;
  }

  /** What has a canonical form, as the constructor has seen, has one by every profile. */
  #makePayload(profile: Profile): SignedPayload {
    if (profile === "strict") return { tail: tailOf(this.canonical), uncovered: [] };
    const { payload, uncovered } = profileCard(profile, this.json);
    return { tail: tailOf(payload), uncovered };
  }
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
