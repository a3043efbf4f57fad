import { formatFieldPath } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { pruneCard } from "../canonical/prune-card.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { writePythonJson } from "./python-json.ts";
import { type FieldPath, withoutEmpties } from "./without-empties.ts";

/**
 * How the bytes that were signed are made from a card. `strict` is what the specification says (§8.4.1, requirements M); the
 * others are what deployed software does instead, and count only when they are asked for by name:
 *
 * - `js-1`: `@a2a-js/sdk` 1.x, and `a2a-sdk` of Python from 1.1.4 on. Everything empty is left out, at any depth.
 * - `python-1`: `a2a-sdk` of Python before that: as `js-1`, but written by `json.dumps`.
 * - `raw`: RFC 8785 over the JSON as it stands, without its signatures.
 */
export type Profile = "strict" | LegacyProfile;

/** A profile that is off by default. */
export type LegacyProfile = "js-1" | "python-1" | "raw";

/** A profile of SDKs that leave out what is empty. */
export type LossyProfile = Exclude<LegacyProfile, "raw">;

export function isLossy(profile: Profile): profile is LossyProfile {
  return profile === "js-1" || profile === "python-1";
}

/** What a profile makes of a card. */
export interface ProfiledCard {
  /** What is signed: the JWS payload before base64url. */
  readonly payload: string;
  /**
   * Paths of what stands in the card and not in the payload, such as `skills[0].tags`: another party may have put
   * it there. Each names the outermost value that is left out, cut off where it gets long.
   */
  readonly uncovered: readonly string[];
}

/** Profiles that are off by default, in the order in which they are tried. */
export const legacyProfiles: readonly LegacyProfile[] = ["js-1", "python-1", "raw"];

/** Paths of one card that are listed. Further values are named by the member of the card that they are in. */
const maxPaths = 10_000;

/**
 * What a legacy profile may have signed of a card, and what that leaves out: each form that its software is known to sign, the one
 * that leaves out least first.
 *
 * @param json the card, read by `readCardText`
 * @throws CardTextError when it has no canonical form
 */
export function profileCard(profile: LegacyProfile, json: JsonObject): readonly ProfiledCard[] {
  const { signatures: _, ...unsigned } = json;
  if (profile === "raw") return [{ payload: writeCanonical(unsigned), uncovered: [] }];
  // As both SDKs see a card: without members that their message type does not have, and then without what is empty.
  const dropped = new Set<string>();
  const onDropped = (path: FieldPath) => {
    dropped.add(formatFieldPath(dropped.size < maxPaths ? path : path.slice(0, 1)));
  };
  const kept = withoutEmpties(pruneCard(unsigned, { onUnknown: onDropped }), onDropped);
  const uncovered = [...dropped];
  if (profile === "python-1") return [{ payload: writePythonJson(kept), uncovered }];
  const asJson = { payload: writeCanonical(kept), uncovered };
  const { securitySchemes, ...others } = kept;
  if (securitySchemes === undefined) return [asJson];
  // A card may also come to the JavaScript SDK's signer as an object of the SDK's own type. Of that the signer loses all security
  // schemes: it takes them for JSON, and finds none of the names it looks for.
  return [asJson, { payload: writeCanonical(others), uncovered: [...uncovered, "securitySchemes"] }];
}
