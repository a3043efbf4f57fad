import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  ScalarType,
} from "@bufbuild/protobuf";
import { isRequiredField, refusesEmpty } from "../required-fields.ts";
import { draftFields } from "../service-parameters.ts";

/** Options for making JSON Schemas. */
export interface JsonSchemaOptions {
  /** Whether schemas describe the fields of the A2A 1.1 draft, too. Default false. */
  readonly draft?: boolean;
}

/** Options for schemas that become part of a larger document. */
export interface SchemaPartOptions extends JsonSchemaOptions {
  /** The prefix of references to a message's schema; the message's name follows. Default `#/$defs/`. */
  readonly refPrefix?: string;
}

/** JSON Schemas by the name of the message or enum they describe. */
export type JsonSchemas = Record<string, JsonObject>;

const dialect = "https://json-schema.org/draft/2020-12/schema";

/**
 * The JSON Schema (2020-12) of a message, with the schemas of all messages in it below `$defs`.
 *
 * Schemas describe ProtoJSON as we write it: camelCase names, enums by name, 64-bit integers as strings, and the fields
 * that `findMissingFields` demands. Parsers accept more (snake_case names, enum numbers, null for an absent field).
 * Unknown members are allowed, since receivers ignore them (requirement H-6).
 */
export function jsonSchemaOf(desc: DescMessage, options: JsonSchemaOptions = {}): JsonObject {
  return { $schema: dialect, ...typeSchema(desc, options), $defs: collectSchemas([desc], options) };
}

/** The schemas of these messages and of every message and enum in them, in alphabetical order. */
export function collectSchemas(
  messages: Iterable<DescMessage>,
  options: SchemaPartOptions = {},
): JsonSchemas {
  const found = new Map<string, DescMessage | DescEnum>();
  const pending: (DescMessage | DescEnum)[] = [...messages];
  for (let desc = pending.pop(); desc !== undefined; desc = pending.pop()) {
    const known = found.get(desc.name);
    if (known !== undefined && known !== desc) {
      throw new Error(`${desc.typeName} and ${known.typeName} would share a schema name`);
    }
    if (known === undefined && !wellKnown.has(desc.typeName)) {
      found.set(desc.name, desc);
      pending.push(...(desc.kind === "message" ? contentTypes(desc, options) : []));
    }
  }
  return Object.fromEntries(
    [...found]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, desc]) => [
        name,
        desc.kind === "message" ? messageSchema(desc, options) : enumSchema(desc),
      ]),
  );
}

/**
 * The schema of a message as an object, for callers that cannot use a reference.
 *
 * @param without fields to leave out, because they are not in this JSON
 */
export function messageSchema(
  desc: DescMessage,
  options: SchemaPartOptions = {},
  without: (field: DescField) => boolean = () => false,
): JsonObject {
  const fields = describedFields(desc, options).filter((field) => !without(field));
  const required = fields.filter(isRequiredField).map(({ jsonName }) => jsonName);
  const oneofs = desc.oneofs.map(({ fields: members }) => ({
    oneOf: members.map(({ jsonName }) => ({ required: [jsonName] })),
  }));
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, fieldSchema(field, options)])),
    ...(required.length === 0 ? {} : { required }),
    // Each oneof of the protocol needs exactly one member.
    ...(oneofs.length > 1 ? { allOf: oneofs } : oneofs[0]),
  };
}

/** The schema of a field's value. */
export function fieldSchema(field: DescField, options: SchemaPartOptions = {}): JsonObject {
  return { ...presentSchema(field, options), ...(field.deprecated ? { deprecated: true } : {}) };
}

function presentSchema(field: DescField, options: SchemaPartOptions): JsonObject {
  const full = refusesEmpty(field);
  switch (field.fieldKind) {
    case "scalar":
      return { ...scalarSchema(field.scalar), ...(full ? { minLength: 1 } : {}) };
    case "enum":
      return {
        ...typeSchema(field.enum, options),
        ...(full ? { not: { const: field.enum.values[0]?.name ?? "" } } : {}),
      };
    case "message":
      return typeSchema(field.message, options);
    case "list":
      return { type: "array", items: elementSchema(field, options), ...(full ? { minItems: 1 } : {}) };
    case "map":
      return { type: "object", additionalProperties: elementSchema(field, options) };
  }
}

function elementSchema(
  field: Pick<DescField, "message" | "enum" | "scalar">,
  options: SchemaPartOptions,
): JsonObject {
  const type = field.message ?? field.enum;
  return type === undefined ? scalarSchema(field.scalar ?? ScalarType.STRING) : typeSchema(type, options);
}

/** The schema of any value of a type: a reference, or the JSON form of a well-known type. */
export function typeSchema(
  desc: DescMessage | DescEnum,
  { refPrefix = "#/$defs/" }: SchemaPartOptions = {},
): JsonObject {
  return wellKnown.get(desc.typeName) ?? { $ref: `${refPrefix}${desc.name}` };
}

/** JSON forms that ProtoJSON gives to types of google.protobuf. */
const wellKnown: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["google.protobuf.Empty", { type: "object" }],
  ["google.protobuf.Struct", { type: "object" }],
  ["google.protobuf.Value", {}],
  ["google.protobuf.Timestamp", { type: "string", format: "date-time" }],
]);

function contentTypes(desc: DescMessage, options: SchemaPartOptions): (DescMessage | DescEnum)[] {
  return describedFields(desc, options)
    .map(({ message, enum: values }) => message ?? values)
    .filter((type) => type !== undefined);
}

/** The fields of a message that its schema describes. */
export function describedFields(
  desc: DescMessage,
  { draft = false }: JsonSchemaOptions = {},
): readonly DescField[] {
  return draft ? desc.fields : desc.fields.filter((field) => !draftFields.has(field));
}

function enumSchema(desc: DescEnum): JsonObject {
  return { type: "string", enum: desc.values.map(({ name }) => name) };
}

function scalarSchema(type: ScalarType): JsonObject {
  switch (type) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64", pattern: "^[A-Za-z0-9+/]*={0,2}$" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "string", pattern: "^-?[0-9]{1,19}$" };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "string", pattern: "^[0-9]{1,20}$" };
  }
}
