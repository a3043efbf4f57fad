import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { objectOf } from "./json-access.ts";
import { type SchemeKind, type SchemeStrength, schemeKind, schemeStrength } from "./scheme-strength.ts";

/** A SecurityScheme of a card. */
export interface DeclaredScheme {
  /** Undefined when nobody knows what is asked for. */
  readonly kind: SchemeKind | undefined;
  readonly strength: SchemeStrength;
  /** What stands under the member that tells its kind. */
  readonly content: JsonObject;
  /** Equal for schemes that ask for the same, in the same way and at the same place, whatever they tell people. */
  readonly identity: string;
}

/** Members of schemes that are there for people. */
const forPeople: ReadonlySet<string> = new Set(["description", "scopes", "bearerFormat"]);

/** Reads a SecurityScheme. Total: what is none is of no kind. */
export function readScheme(json: JsonValue): DeclaredScheme {
  const scheme = objectOf(json);
  const kind = schemeKind(scheme);
  const content = kind === undefined ? {} : objectOf(scheme[kind]);
  return { kind, strength: schemeStrength(kind, content), content, identity: identify(scheme) };
}

/** What a requirement names that the card does not declare. */
export const undeclaredScheme: DeclaredScheme = readScheme({});

function identify(json: JsonValue): string {
  if (typeof json !== "object" || json === null) {
    return JSON.stringify(json);
  }
  if (Array.isArray(json)) {
    return `[${json.map(identify).join(",")}]`;
  }
  const members = Object.entries(json).filter(([name]) => !forPeople.has(name));
  const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${identify(value)}`).join(",")}}`;
}
