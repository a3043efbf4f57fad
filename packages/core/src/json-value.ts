import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Struct, Value } from "@bufbuild/protobuf/wkt";
import { type FieldWalk, isFull, report } from "./field-walk.ts";
import { checkKey, checkUnicode, enterContainer } from "./json-depth.ts";

/**
 * The message form of JSON of the caller's own. It is checked by the same rules as in `checkJson` while it is built.
 *
 * @param depth nesting level that `json` has if it is an object or array
 * @returns null for values that are not JSON, and for those nested too deeply; both are reported
 */
export function readJsonValue(walk: FieldWalk, json: unknown, depth: number): Value {
  switch (typeof json) {
    case "string":
      checkUnicode(walk, json);
      return toValue({ case: "stringValue", value: json });
    case "number":
      if (!Number.isFinite(json)) {
        report(walk, "must be a finite number");
      }
      return toValue({ case: "numberValue", value: json });
    case "boolean":
      return toValue({ case: "boolValue", value: json });
    case "object":
      return json !== null && enterContainer(walk, depth) ? readContainer(walk, json, depth) : nullValue();
    default:
      report(walk, "is not a JSON value");
      return nullValue();
  }
}

function readContainer(walk: FieldWalk, json: object, depth: number): Value {
  if (Array.isArray(json)) {
    const values: Value[] = [];
    for (let index = 0; index < json.length && !isFull(walk); index++) {
      walk.path.push(index);
      values.push(readJsonValue(walk, json[index], depth + 1));
      walk.path.pop();
    }
    return toValue({ case: "listValue", value: { $typeName: "google.protobuf.ListValue", values } });
  }
  const keys = Object.keys(json);
  const fields = keys.length === 0 ? {} : createTable<Value>();
  for (const key of keys) {
    if (checkKey(walk, key)) {
      walk.path.push(key);
      fields[key] = readJsonValue(walk, (json as JsonObject)[key], depth + 1); // a key of its own
      walk.path.pop();
    }
    if (isFull(walk)) {
      break;
    }
  }
  const struct: Struct = { $typeName: "google.protobuf.Struct", fields };
  return toValue({ case: "structValue", value: struct });
}

/** The same object as from `create`, at a tenth of the cost. */
export function toValue(kind: Value["kind"]): Value {
  return { $typeName: "google.protobuf.Value", kind };
}

function nullValue(): Value {
  return toValue({ case: "nullValue", value: 0 });
}

/**
 * The JSON of a Value.
 *
 * @throws Error for values that JSON cannot hold
 */
export function writeJsonValue({ kind }: Value): JsonValue {
  switch (kind.case) {
    case "structValue": {
      const { fields } = kind.value;
      const keys = Object.keys(fields);
      const json: JsonObject = keys.length === 0 ? {} : createTable<JsonValue>();
      for (const key of keys) {
        json[key] = writeJsonValue(fields[key] as Value); // a key of its own
      }
      return json;
    }
    case "listValue":
      return kind.value.values.map(writeJsonValue);
    case "numberValue":
      return assertJson(kind.value);
    case "stringValue":
    case "boolValue":
      return kind.value;
    case "nullValue":
      return null;
    case undefined:
      throw new Error("google.protobuf.Value must have a value");
  }
}

/**
 * A copy of JSON.
 *
 * @throws Error for a number that JSON cannot hold, at any depth
 */
export function assertJson<T extends JsonValue>(json: T): T {
  if (typeof json === "number" && !Number.isFinite(json)) {
    throw new Error("google.protobuf.Value cannot be NaN or Infinity");
  }
  if (typeof json === "object" && json !== null) {
    const elements: readonly JsonValue[] = Array.isArray(json) ? json : Object.values<JsonValue>(json);
    for (const element of elements) {
      assertJson(element);
    }
  }
  return json;
}

/**
 * An empty object without a prototype, which V8 keeps as a table. Otherwise an object with many different names, and
 * many objects of a few names each, would get a hidden class for every name, which takes a microsecond and a hundred
 * bytes. A member `__proto__` is an ordinary member of a table.
 */
export function createTable<T>(): Record<string, T> {
  return Object.create(null);
}

/**
 * The same JSON as `JSON.parse` would have made it. Agents may call `metadata.hasOwnProperty`, which tables do not
 * have.
 */
export function withPrototypes(json: JsonObject): JsonObject {
  if (Object.getPrototypeOf(json) === null) {
    adoptPrototypes(json);
  }
  return json;
}

function adoptPrototypes(json: JsonValue): void {
  if (typeof json !== "object" || json === null) {
    return;
  }
  if (Array.isArray(json)) {
    json.forEach(adoptPrototypes);
    return;
  }
  for (const name of Object.keys(json)) {
    adoptPrototypes(json[name] as JsonValue); // a key of its own
  }
  Object.setPrototypeOf(json, Object.prototype);
}
