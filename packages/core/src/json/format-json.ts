import { ListTasksRequestSchema } from "@a2a-connect/proto";
import {
  type DescField,
  type DescMessage,
  isMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import type { Duration, Timestamp, Value } from "@bufbuild/protobuf/wkt";
import { formatBase64 } from "../base64.ts";
import type { RpcMethod } from "../methods.ts";
import { isRequiredField } from "../required-fields.ts";
import { formatDuration, formatTimestamp } from "./json-scalar.ts";
import { assertJson, toTable, writeJsonValue } from "./json-value.ts";

/**
 * A message as ProtoJSON by the rules of requirement H-8: camelCase names. REQUIRED fields are written even at their
 * default. `optional` and message fields are written if they are set. Every other field is written if it is not the
 * default. Struct and Value contents are not changed (H-13): a Struct is the message's own object, not a copy.
 *
 * @throws Error for values that JSON cannot hold: NaN or an infinity in a Struct or Value, or a Value without a kind
 */
export function formatMessage<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): JsonValue {
  return messageWriter(desc)(message); // the writers of its fields are compiled once
}

/**
 * The answer to a request as JSON: {@link formatMessage}, and `artifacts: []` in listed tasks without artifacts when
 * the request asked for them (requirement A-46).
 */
export function formatResponse(method: RpcMethod, request: Message, response: Message): JsonValue {
  const json = formatMessage(method.desc.output, response);
  if (asksForArtifacts(request)) {
    for (const task of (json as { tasks: JsonObject[] }).tasks) {
      // tasks is REQUIRED and so always emitted
      task["artifacts"] ??= [];
    }
  }
  return json;
}

/** Whether the request asks for a list of tasks with their artifacts. */
export function asksForArtifacts(request: Message): boolean {
  return isMessage(request, ListTasksRequestSchema) && request.includeArtifacts === true;
}

/** Formats a set value of a field as JSON. */
type ValueWriter = (value: unknown) => JsonValue;

/** How a field of a message is written. */
export interface FieldWriter {
  readonly field: DescField;
  /** The field's value in a message; undefined when the field does not belong into the JSON. */
  find(message: object): unknown;
  readonly write: ValueWriter;
}

/** A message as its members by local name, as every generated message type is. */
type Fields = Readonly<Record<string, unknown>>;

const messageWriters = new WeakMap<DescMessage, readonly FieldWriter[]>();

/** The fields of a message type in the order of the JSON, compiled on first use. */
export function fieldWriters(desc: DescMessage): readonly FieldWriter[] {
  const compiled = messageWriters.get(desc);
  if (compiled !== undefined) {
    return compiled;
  }
  const writers: FieldWriter[] = [];
  messageWriters.set(desc, writers); // before the fields, so that recursive types end
  writers.push(...desc.fields.toSorted((one, other) => one.number - other.number).map(fieldWriter));
  return writers;
}

function messageWriter(desc: DescMessage): ValueWriter {
  const own = wellKnownWriter(desc);
  if (own !== undefined) {
    return own;
  }
  const writers = fieldWriters(desc);
  return (message) => writeFields(writers, message as Message); // by its type
}

function writeFields(writers: readonly FieldWriter[], message: object): JsonObject {
  const json: JsonObject = {};
  for (const { field, find, write } of writers) {
    const value = find(message);
    if (value !== undefined) {
      json[field.jsonName] = write(value);
    }
  }
  return json;
}

function fieldWriter(field: DescField): FieldWriter {
  const { localName, oneof } = field;
  const write = valueWriter(field);
  if (oneof !== undefined) {
    const find = (message: object): unknown => {
      const chosen = (message as Fields)[oneof.localName] as {
        readonly case?: string;
        readonly value?: unknown;
      }; // its shape
      return chosen.case === localName ? chosen.value : undefined;
    };
    return { field, find, write };
  }
  const isDefault = isRequiredField(field) ? () => false : defaultTest(field);
  const find = (message: object): unknown => {
    const value = (message as Fields)[localName];
    return value === undefined || isDefault(value) ? undefined : value;
  };
  return { field, find, write };
}

/** Whether a value of a field is left out (H-8). Fields with presence are undefined when they are not set. */
function defaultTest(field: DescField): (value: unknown) => boolean {
  if (field.fieldKind === "list") {
    return (value) => (value as readonly unknown[]).length === 0; // a repeated field
  }
  if (field.fieldKind === "map") {
    return (value) => Object.keys(value as object).length === 0; // a map field
  }
  if (field.presence !== implicit) {
    return () => false;
  }
  return field.scalar === ScalarType.BYTES
    ? (value) => (value as Uint8Array).length === 0 // by its type
    : (value) => value === "" || value === false || value === 0n || Object.is(value, 0);
}

/** FeatureSet.FieldPresence.IMPLICIT: an unset field and the default are the same. */
const implicit = 2;

function valueWriter(field: DescField): ValueWriter {
  switch (field.fieldKind) {
    case "list": {
      const write = elementWriter(field);
      return (value) => (value as readonly unknown[]).map(write); // a repeated field
    }
    case "map": {
      const write = elementWriter(field);
      return (value) => toTable(Object.entries(value as Fields).map(([key, each]) => [key, write(each)])); // a map field
    }
    default:
      return elementWriter(field);
  }
}

function elementWriter({ message, enum: desc, scalar }: DescField): ValueWriter {
  if (message !== undefined) {
    return messageWriter(message);
  }
  if (desc !== undefined) {
    return (value) => desc.value[value as number]?.jsonName ?? (value as number); // an enum's number
  }
  switch (scalar) {
    case ScalarType.BYTES:
      return (value) => formatBase64(value as Uint8Array); // by its type
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (value) => (Number.isFinite(value) ? (value as number) : String(value)); // NaN and infinities are strings
    default:
      return (value) => (typeof value === "bigint" ? String(value) : (value as JsonValue)); // text, a number or a boolean
  }
}

/**
 * Types with a JSON form of their own.
 *
 * @throws Error for well-known types that no message of ours has
 */
function wellKnownWriter(desc: DescMessage): ValueWriter | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Value":
      return (value) => writeJsonValue(value as Value); // by the type's name
    case "google.protobuf.Struct":
      // A field of this type is the JSON object itself. The message form occurs in a Value.
      return (value) => assertJson(value as JsonObject);
    case "google.protobuf.Timestamp":
      return (value) => formatTimestamp(value as Timestamp); // by the type's name
    case "google.protobuf.Duration":
      return (value) => formatDuration(value as Duration); // by the type's name
    case "google.protobuf.Empty":
      return undefined;
    default:
      if (desc.file.proto.package === "google.protobuf") {
        throw new Error(`${desc.typeName} is not a type that our messages have`);
      }
      return undefined;
  }
}
