import { matchesMediaType } from "@a2a-connect/core/internal";
import { listOf } from "./card-facts.ts";
import { NotApplicable } from "./not-applicable.ts";
import type { Stage } from "./scenario.ts";

/** A media type that no part of the card takes. @throws NotApplicable when the card takes every type */
export function requireForeignType({ target: { card } }: Pick<Stage, "target">): string {
  const mediaType = "application/x-foo";
  const modes = [card["defaultInputModes"], ...listOf(card["skills"]).map(({ inputModes }) => inputModes)];
  if (modes.flat().some((mode) => typeof mode === "string" && matchesMediaType(mode, mediaType))) {
    throw new NotApplicable("the card takes every media type");
  }
  return mediaType;
}
