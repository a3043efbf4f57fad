import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { listOf, objectOf } from "./json-access.ts";

/** Longest outline that is remembered, in UTF-16 code units. */
export const maxOutlineLength: number = 64 * 1024;

/**
 * What of a card is compared with later ones, as JSON text: the same for cards that declare the same, however they describe it.
 *
 * @param card canonical JSON. Total: what is missing stays missing.
 */
export function outlineCard(card: JsonObject): string {
  return JSON.stringify({
    ...pick(card, ["name", "version", "supportedInterfaces", "securitySchemes", "securityRequirements"]),
    skills: listOf(card["skills"]).map((skill) => pick(objectOf(skill), ["id", "securityRequirements"])),
  });
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  const present = names.filter((name) => Object.hasOwn(object, name));
  return Object.fromEntries(present.map((name): [string, JsonValue] => [name, object[name] ?? null]));
}
