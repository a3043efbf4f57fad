import { findWrongFields, formatFieldPath } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { base64url } from "jose";
import { pruneUnsigned } from "./canonical/canonical-card.ts";
import { writeCanonical } from "./canonical/write-canonical.ts";
import { type Profile, type ProfiledCard, profileCard } from "./profiles/profile-card.ts";
import { type Outline, readOutline } from "./trust/outline.ts";

/** Signatures that are looked at: more are on no card that is meant well. */
export const maxSignatures = 20;

/** Problems that are told of one card. More would not help its author. */
const maxProblems = 10;

/** One thing that may have been signed of a card, ready to be verified. */
export interface SignedForm extends ProfiledCard {
  readonly profile: Profile;
  /** Base64url of the payload. */
  readonly encoded: string;
}

/** A card that was read, and what was signed of it by each profile: made once, when it is asked for. */
export class SignedCard {
  /** As it was received. */
  readonly json: JsonObject;
  /** Without signatures and what says nothing (spec §8.4.1). */
  readonly unsigned: JsonObject;
  /** The text of that: what `strict` signs. */
  readonly canonical: string;
  readonly #missing: string[] = [];
  #declared: JsonObject | undefined;
  #outline: Outline | undefined;
  readonly #forms = new Map<Profile, readonly SignedForm[]>();

  /**
   * @param json read by `readCardText`
   * @throws CardTextError when it has no canonical form
   */
  constructor(json: JsonObject) {
    this.json = json;
    this.unsigned = pruneUnsigned(json, {
      onMissing: (path) => {
        if (this.#missing.length < maxProblems) this.#missing.push(`${formatFieldPath(path)} is missing`);
      },
    });
    this.canonical = writeCanonical(this.unsigned);
  }

  /**
   * Why it is no card: types that are wrong, and REQUIRED members that are missing (spec §5.7, §8.4.1). A REQUIRED member that is
   * there but empty is fine here: this asks whether the card can be told from its JSON, not whether it is of use.
   *
   * @returns sentences without a full stop, such as `skills[0].name is missing`
   */
  findProblems(): readonly string[] {
    const wrong = findWrongFields(AgentCardSchema, this.unsigned).map(
      ({ field, description }) => `${field === "" ? "the card" : field} ${description}`,
    );
    return [...wrong, ...this.#missing].slice(0, maxProblems);
  }

  /** `unsigned` with its members in the order of the canonical text: what the card says, and not how it came. */
  get declared(): JsonObject {
    this.#declared ??= JSON.parse(this.canonical) as JsonObject; // a card is an object
    return this.#declared;
  }

  /** What that is about security. */
  get outline(): Outline {
    this.#outline ??= readOutline(this.declared);
    return this.#outline;
  }

  /** What is signed by the specification. */
  get strict(): SignedForm {
    const [form] = this.forms("strict");
    return form as SignedForm; // that profile has one form
  }

  /** What a profile may have signed, the form that leaves out least first. */
  forms(profile: Profile): readonly SignedForm[] {
    const known = this.#forms.get(profile);
    if (known !== undefined) return known;
    const forms =
      profile === "strict" ? [{ payload: this.canonical, uncovered: [] }] : profileCard(profile, this.json);
    const ready = forms.map((form) => ({ ...form, profile, encoded: base64url.encode(form.payload) }));
    this.#forms.set(profile, ready);
    return ready;
  }
}

const encoder = new TextEncoder();

/** What is signed: the JWS Signing Input (RFC 7515 §5.2, step 8). */
export function signingInput(protectedText: string, { encoded }: SignedForm): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${protectedText}.${encoded}`);
}
