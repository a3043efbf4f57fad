import type { JsonObject } from "@bufbuild/protobuf";
import type { Struct, Value } from "@bufbuild/protobuf/wkt";
import { type FieldWalk, isFull, report } from "./field-walk.ts";
import { checkKey, checkUnicode, enterContainer } from "./json-depth.ts";

/**
 * The message form of JSON that is the caller's own, checked by the same rules as `checkJson` while it is built.
 *
 * @param depth nesting level that `json` has if it is an object or array
 * @returns null for what is no JSON, and for what is nested too deeply; both are reported
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
  const fields = createTable<Value>();
  for (const key of Object.keys(json)) {
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

/** As `create` makes it, at a tenth of the cost. */
function toValue(kind: Value["kind"]): Value {
  return { $typeName: "google.protobuf.Value", kind };
}

function nullValue(): Value {
  return toValue({ case: "nullValue", value: 0 });
}

/**
 * An empty object that the engine keeps as a table, because a member was deleted that is not its last. An object with many
 * different names, and many objects of a few each, would otherwise make a hidden class for every name, which takes a
 * microsecond and a hundred bytes each.
 */
export function createTable<T>(): Record<string, T> {
  const table: Record<string, T | undefined> = { first: undefined, last: undefined };
  delete table["first"];
  delete table["last"];
  return table as Record<string, T>; // nothing is left in it
}
