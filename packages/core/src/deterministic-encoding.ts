import {
  type DescField,
  type DescMessage,
  isMessage,
  type JsonObject,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import { isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { encodeMessage } from "./binary/encode.ts";
import { createTable, toValue } from "./json-value.ts";

/**
 * The one binary encoding of a message: messages with the same meaning have the same bytes, whichever wire they came
 * over.
 *
 * Protobuf does not fix the order of map entries, and encoders write them in the order of insertion. Here keys are
 * sorted at every depth, in Structs and data parts, too. Negative zero becomes zero, because JSON encoders drop its
 * sign. An empty singular message is left out, because it means the same as a missing one. Fields that this version
 * does not know are left out, too.
 *
 * @param omit fields to leave out at any depth
 */
export function encodeDeterministically<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  omit: ReadonlySet<DescField> = new Set(),
): Uint8Array<ArrayBuffer> {
  return encodeMessage(desc, sortMaps(reflect(desc, message), omit).message as MessageShape<Desc>); // a copy of the same type
}

/** A copy whose maps were filled in the order of their keys, without unknown fields. */
function sortMaps(source: ReflectMessage, omit: ReadonlySet<DescField>): ReflectMessage {
  const copy = reflect(source.desc);
  for (const field of source.fields) {
    if (!omit.has(field) && source.isSet(field)) {
      copyField(field, source, copy, omit);
    }
  }
  return copy;
}

function copyField(
  field: DescField,
  source: ReflectMessage,
  copy: ReflectMessage,
  omit: ReadonlySet<DescField>,
): void {
  switch (field.fieldKind) {
    case "list": {
      const list = copy.get(field);
      for (const item of source.get(field)) {
        list.add(copyValue(item, omit));
      }
      break;
    }
    case "map": {
      const map = copy.get(field);
      const entries = [...source.get(field)].sort(([one], [other]) => compareKeys(one, other));
      for (const [key, value] of entries) {
        map.set(key, copyValue(value, omit));
      }
      break;
    }
    case "message": {
      if (isJson(field.message)) {
        copyJson(field, source, copy);
        break;
      }
      const value = sortMaps(source.get(field), omit);
      if (field.oneof !== undefined || value.fields.some((inner) => value.isSet(inner))) {
        copy.set(field, value);
      }
      break;
    }
    case "scalar":
    case "enum":
      copy.set(field, copyValue(source.get(field), omit));
      break;
  }
}

/** Types whose contents are the caller's own, and may be many. They are copied by hand, at a twentieth of the cost. */
function isJson({ typeName }: DescMessage): boolean {
  return typeName === "google.protobuf.Struct" || typeName === "google.protobuf.Value";
}

/** Copies a field of these types in protobuf-es's form: a Struct is the JSON object itself, a Value a message. */
function copyJson({ oneof, localName }: DescField, source: ReflectMessage, copy: ReflectMessage): void {
  const from: Readonly<Record<string, unknown>> = { ...source.message };
  const chosen = oneof === undefined ? undefined : (from[oneof.localName] as { readonly value: unknown });
  const value = chosen === undefined ? from[localName] : chosen.value;
  const sorted = isMessage(value, ValueSchema) ? sortValue(value) : sortJson(value as JsonObject); // a Struct's
  if (oneof !== undefined) {
    Object.assign(copy.message, { [oneof.localName]: { case: localName, value: sorted } });
  } else if (Object.keys(sorted).length > 0) {
    Object.assign(copy.message, { [localName]: sorted });
  }
}

function sortValue({ kind }: Value): Value {
  switch (kind.case) {
    case "structValue": {
      const fields = sortMembers(kind.value.fields, sortValue);
      return toValue({ case: "structValue", value: { $typeName: "google.protobuf.Struct", fields } });
    }
    case "listValue": {
      const values = kind.value.values.map(sortValue);
      return toValue({ case: "listValue", value: { $typeName: "google.protobuf.ListValue", values } });
    }
    case "numberValue":
      return toValue({ case: "numberValue", value: withoutSign(kind.value) });
    default:
      return toValue(kind);
  }
}

function sortJson<T extends JsonValue>(json: T): T;
function sortJson(json: JsonValue): JsonValue {
  if (typeof json === "number") {
    return withoutSign(json);
  }
  if (typeof json !== "object" || json === null) {
    return json;
  }
  return Array.isArray(json) ? json.map((each) => sortJson(each)) : sortMembers(json, sortJson);
}

function sortMembers<T>(members: Readonly<Record<string, T>>, sort: (value: T) => T): Record<string, T> {
  const sorted = createTable<T>();
  for (const key of Object.keys(members).sort()) {
    sorted[key] = sort(members[key] as T); // an own member; the parser refuses `__proto__`
  }
  return sorted;
}

function withoutSign(number: number): number {
  return number === 0 ? 0 : number;
}

function copyValue(value: unknown, omit: ReadonlySet<DescField>): unknown {
  if (isReflectMessage(value)) {
    return sortMaps(value, omit);
  }
  return typeof value === "number" ? withoutSign(value) : value;
}

function compareKeys(one: unknown, other: unknown): number {
  const [left, right] = [String(one), String(other)];
  return left < right ? -1 : Number(left > right);
}
