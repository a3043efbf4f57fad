import type { DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A source of small whole numbers that decide what is done. */
export type Numbers = Iterator<number>;

/** The same JSON with the members of every object in another order. */
export function shuffleMembers(json: JsonValue, numbers: Numbers): JsonValue {
  if (Array.isArray(json)) {
    return json.map((element) => shuffleMembers(element, numbers));
  }
  if (typeof json !== "object" || json === null) {
    return json;
  }
  const members = Object.entries(json).map(
    ([name, value]) => [numbers.next().value, name, shuffleMembers(value, numbers)] as const,
  );
  members.sort(([one], [other]) => one - other);
  return Object.fromEntries(members.map(([, name, value]) => [name, value]));
}

/** The same card with members that say nothing: null for what is unset, defaults of fields that are neither REQUIRED nor optional. */
export function addNoise(desc: DescMessage, json: JsonObject, numbers: Numbers): JsonObject {
  const noisy: JsonObject = { ...json };
  for (const field of desc.fields) {
    const value = noisy[field.jsonName];
    if (value === undefined) {
      const noise = field.oneof === undefined ? noiseOf(field.fieldKind, numbers) : undefined;
      if (noise !== undefined) {
        noisy[field.jsonName] = noise;
      }
    } else if (field.message !== undefined && !field.message.typeName.startsWith("google.")) {
      const { message } = field;
      noisy[field.jsonName] = mapMessages(field.fieldKind, value, (inner) =>
        addNoise(message, inner, numbers),
      );
    }
  }
  return noisy;
}

/** An empty list or map is noise only where the field is not REQUIRED, and REQUIRED ones are there already. */
function noiseOf(kind: string, numbers: Numbers): JsonValue | undefined {
  switch (numbers.next().value % 3) {
    case 0:
      return undefined;
    case 1:
      return null;
    default:
      return kind === "list" ? [] : kind === "map" ? {} : null;
  }
}

function mapMessages(kind: string, value: JsonValue, change: (message: JsonObject) => JsonValue): JsonValue {
  if (kind === "list") {
    return (value as JsonObject[]).map(change);
  }
  if (kind === "map") {
    return Object.fromEntries(
      Object.entries(value as Record<string, JsonObject>).map(([key, each]) => [key, change(each)]),
    );
  }
  return change(value as JsonObject);
}
