import { create, type DescField, type DescMessage, fromJson, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc, timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

/** How deep messages may contain each other; deeper ones stay unset. */
const maxDepth = 6;

/**
 * Any message of a type, as protobuf allows it: REQUIRED fields may be unset or empty. Only what no wire of ours can
 * carry is left out, and oneofs have a member, except that of a Part.
 */
export function arbitraryMessage(desc: DescMessage, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const fields = desc.fields.filter(({ oneof }) => oneof === undefined);
  const values = fields.map(
    (field) => [field.localName, fc.option(arbitraryField(field, depth), missing)] as const,
  );
  const oneofs = desc.oneofs.map((oneof) => {
    const members = oneof.fields.map((field) =>
      arbitraryField(field, depth).map((value) => ({ case: field.localName, value })),
    );
    const unset = desc.name === "Part" ? [fc.constant({ case: undefined, value: undefined })] : [];
    return [oneof.localName, fc.oneof(...members, ...unset)] as const;
  });
  return fc
    .record<Record<string, unknown>>(Object.fromEntries([...values, ...oneofs]))
    .map((init) => create(desc, init) as unknown as Record<string, unknown>); // messages are plain objects
}

/** Mostly present, so that some messages of many fields lack nothing. */
const missing = { nil: undefined, freq: 24 };

function arbitraryField(field: DescField, depth: number): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "scalar":
      return arbitraryScalar(field.scalar);
    case "enum":
      return fc.constantFrom(...field.enum.values.map(({ number }) => number));
    case "message":
      return isWrapperDesc(field.message) && field.oneof === undefined
        ? arbitraryScalar(field.message.fields[0].scalar) // it stands for the message
        : arbitraryContent(field.message, depth);
    case "list":
      return fc.array(arbitraryElement(field, depth), { maxLength: 2 });
    case "map":
      return fc.dictionary(arbitraryKey(field.mapKey), arbitraryElement(field, depth), { maxKeys: 2 });
  }
}

function arbitraryElement(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.message !== undefined) {
    return arbitraryContent(field.message, depth);
  }
  return field.enum === undefined
    ? arbitraryScalar(field.scalar ?? ScalarType.STRING)
    : fc.constantFrom(...field.enum.values.map(({ number }) => number));
}

function arbitraryKey(type: ScalarType): fc.Arbitrary<string> {
  return type === ScalarType.STRING ? key : arbitraryScalar(type).map(String);
}

const key = fc.string({ maxLength: 4 }).filter((text) => text !== "__proto__");

/** Sometimes empty. */
const text = fc.oneof({ weight: 30, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) }, fc.constant(""));

const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__"));

function arbitraryContent(desc: DescMessage, depth: number): fc.Arbitrary<unknown> {
  switch (desc.typeName) {
    case "google.protobuf.Struct":
      return fc.dictionary(key, json, { maxKeys: 2 });
    case "google.protobuf.Value":
      return json.map((value) => fromJson(ValueSchema, value as string)); // any JSON; the type is too narrow
    case "google.protobuf.Timestamp":
      return fc.integer({ min: 0, max: 4e12 }).map(timestampFromMs);
    default:
      return depth >= maxDepth ? fc.constant(create(desc)) : fc.noShrink(arbitraryMessage(desc, depth + 1));
  }
}

function arbitraryScalar(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 8 });
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return fc.integer();
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat({ max: 0xffff_ffff });
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    case ScalarType.FLOAT:
      return fc.float();
    case ScalarType.DOUBLE:
      return fc.double();
  }
}
