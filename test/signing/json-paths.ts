import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Names and indexes from the root of a JSON value. */
export type JsonPath = readonly (string | number)[];

/** The paths of all values in a JSON value, its own left out. */
export function pathsOf(json: JsonValue, path: JsonPath = []): JsonPath[] {
  if (typeof json !== "object" || json === null) {
    return [];
  }
  return Object.entries(json).flatMap(([name, value]) => {
    const own = [...path, Array.isArray(json) ? Number(name) : name];
    return [own, ...pathsOf(value, own)];
  });
}

/** A copy in which the value at a path is another one; undefined takes it out. */
export function replaceAt(
  json: JsonValue,
  [first, ...rest]: JsonPath,
  change: (value: JsonValue) => JsonValue | undefined,
): JsonValue | undefined {
  if (first === undefined) {
    return change(json);
  }
  if (Array.isArray(json)) {
    return json.flatMap((element, index) => {
      const replaced = index === first ? replaceAt(element, rest, change) : element;
      return replaced === undefined ? [] : [replaced];
    });
  }
  const members = Object.entries(json as JsonObject).flatMap(([name, value]): [string, JsonValue][] => {
    const replaced = name === first ? replaceAt(value, rest, change) : value;
    return replaced === undefined ? [] : [[name, replaced]];
  });
  return Object.fromEntries(members);
}
