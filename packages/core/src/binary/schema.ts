import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type Edition, isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** As a number: the enum would bring the descriptors of descriptors, 2 kB, into every page. */
const proto3: typeof Edition.EDITION_PROTO3 = 999;

/** Tags of the fields of Value, Struct, Struct's entries and ListValue. */
export const tags = {
  nullValue: 0x08,
  numberValue: 0x11,
  stringValue: 0x1a,
  boolValue: 0x20,
  structValue: 0x2a,
  listValue: 0x32,
  item: 0x0a,
  entryKey: 0x0a,
  entryValue: 0x12,
} as const;

/** The scalar types that A2A's messages use. */
export type OwnScalar =
  | ScalarType.STRING
  | ScalarType.BYTES
  | ScalarType.BOOL
  | ScalarType.INT32
  | ScalarType.INT64;

const ownScalars: ReadonlySet<ScalarType | undefined> = new Set<OwnScalar>([
  ScalarType.STRING,
  ScalarType.BYTES,
  ScalarType.BOOL,
  ScalarType.INT32,
  ScalarType.INT64,
]);

/**
 * Whether this codec can read and write all fields of a type; decided once for each type. It can for proto3 types with
 * the scalars above and with maps whose keys are strings, but not for wrapped scalars. These are all types of A2A, of
 * its errors, and of the gRPC services beside it. protobuf-es reads and writes all other messages, which an agent may
 * put into its journal, at any depth.
 */
export function isOwnType(desc: DescMessage): boolean {
  return desc.file.edition === proto3 && desc.fields.every(isOwnField);
}

function isOwnField(field: DescField): boolean {
  if (field.fieldKind === "map" && field.mapKey !== ScalarType.STRING) {
    return false;
  }
  if (field.message !== undefined) {
    return !isWrapperDesc(field.message);
  }
  const isLongText = field.fieldKind !== "map" && "longAsString" in field && field.longAsString;
  return field.enum !== undefined || (ownScalars.has(field.scalar) && !isLongText);
}

/** Whether a Struct in this field is a plain JSON object. It is, except in a Value. */
export function isJsonField({ message, parent }: DescField): boolean {
  return message?.typeName === "google.protobuf.Struct" && parent.typeName !== "google.protobuf.Value";
}

/** What `compile` makes of each type, made when it is first needed. */
export function compileOnce<Compiled extends object>(
  compile: (desc: DescMessage) => Compiled,
): (desc: DescMessage) => Compiled {
  const known = new WeakMap<DescMessage, Compiled>();
  return (desc) => {
    let compiled = known.get(desc);
    if (compiled === undefined) {
      compiled = compile(desc);
      known.set(desc, compiled);
    }
    return compiled;
  };
}
