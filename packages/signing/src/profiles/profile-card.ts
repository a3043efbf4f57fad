import type { JsonObject } from "@bufbuild/protobuf";
import { canonicalJson, pruneUnsigned } from "../canonical/canonical-card.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { type FieldPath, PathList } from "./field-path.ts";
import type { LegacyProfile, Profile, ProfiledCard } from "./profile.ts";
import { writePythonJson } from "./python-json.ts";
import { withoutEmpties } from "./without-empties.ts";

/** Profiles that are off by default, in the order in which they are tried. */
export const legacyProfiles: readonly LegacyProfile[] = ["js-1", "python-1", "raw"];

/**
 * What a profile may have signed of a card, and what that leaves out: each form that its software is known to sign, the one
 * that leaves out least first.
 *
 * @param json the card, read by `readCardText`
 * @throws CardTextError when it has no canonical form
 */
export function profileCard(profile: Profile, json: JsonObject): readonly ProfiledCard[] {
  switch (profile) {
    case "strict":
      return [{ payload: canonicalJson(json), uncovered: [] }];
    case "js-1":
      return cleanedCards(json).map(({ kept, uncovered }) => ({ payload: writeCanonical(kept), uncovered }));
    case "python-1": {
      const { kept, uncovered } = cleanCard(json);
      return [{ payload: writePythonJson(kept), uncovered }];
    }
    case "raw": {
      const { signatures: _, ...unsigned } = json;
      return [{ payload: writeCanonical(unsigned), uncovered: [] }];
    }
  }
}

/**
 * A card of the JavaScript SDK, which comes to its signer as JSON or as an object of the SDK's own type. Of the latter the
 * signer loses what is in a security scheme, and so all schemes: it takes them for JSON, and finds none of the names it
 * looks for.
 */
function cleanedCards(json: JsonObject): readonly CleanedCard[] {
  const asJson = cleanCard(json);
  const { securitySchemes, ...others } = asJson.kept;
  return securitySchemes === undefined
    ? [asJson]
    : [asJson, { kept: others, uncovered: [...asJson.uncovered, "securitySchemes"] }];
}

interface CleanedCard {
  readonly kept: JsonObject;
  readonly uncovered: readonly string[];
}

/** A card as both SDKs see it: what their message type does not have is gone, and then whatever is empty. */
function cleanCard(json: JsonObject): CleanedCard {
  const uncovered = new PathList();
  const onDropped = (path: FieldPath) => uncovered.add(path);
  const known = pruneUnsigned(json, { onUnknown: onDropped });
  const kept = withoutEmpties(known, onDropped);
  return { kept, uncovered: uncovered.toArray() };
}
