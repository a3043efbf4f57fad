import { type DescField, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/**
 * The one binary encoding of a message: the same for messages that mean the same, whichever wire they came over.
 *
 * Protobuf leaves the order of map entries open, and encoders write them as they were put in; here keys are sorted, at
 * every depth, those of Structs and of data parts included. Negative zero is zero, because JSON encoders drop its sign.
 * Left out are a singular message with nothing in it, which says as much as none, and fields that this version does not
 * know.
 *
 * @param omit fields to leave out, wherever they stand
 */
export function encodeDeterministically<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  omit: ReadonlySet<DescField> = new Set(),
): Uint8Array<ArrayBuffer> {
  return toBinary(desc, sortMaps(reflect(desc, message), omit).message as MessageShape<Desc>); // a copy of the same type
}

/** A copy whose maps were filled in the order of their keys, and that has no unknown fields. */
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

function copyValue(value: unknown, omit: ReadonlySet<DescField>): unknown {
  if (isReflectMessage(value)) {
    return sortMaps(value, omit);
  }
  return value === 0 ? 0 : value;
}

function compareKeys(one: unknown, other: unknown): number {
  const [left, right] = [String(one), String(other)];
  return left < right ? -1 : Number(left > right);
}
