import {
  AgentCardSchema,
  ArtifactSchema,
  ListTasksResponseSchema,
  MessageSchema,
  PartSchema,
  SendMessageConfigurationSchema,
} from "@a2a-connect/proto";
import { requiredFields } from "@a2a-connect/proto/options";
import {
  type DescField,
  type DescMessage,
  type DescOneof,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import type { Timestamp, Value } from "@bufbuild/protobuf/wkt";
import type { FieldViolation } from "./errors.ts";
import { defaultMaxDepth, type FieldWalk, isFull, report, reportAt, startWalk } from "./field-walk.ts";
import { checkJson, checkValue } from "./json/json-value.ts";
import { maxMediaTypeLength } from "./media-type.ts";

/**
 * What is missing in a message, or is not allowed on our wires:
 *
 * - unset REQUIRED fields (by `google.api.field_behavior`, requirement H-7), and a Part without content (H-9);
 * - ids of more than 512 characters, and lists of texts that are longer than their limits;
 * - values that binary wires can carry but JSON cannot: unknown enum numbers, timestamps out of range, and contents of
 *   a Struct or Value that are nested deeper than the limit, not finite, or use the key `__proto__`.
 *
 * An empty string and an enum's zero count as missing. false and 0 do not: they look the same as a value that was set.
 *
 * @param path the message's own path in the request, for the violations' field paths
 * @param maxDepth nested objects and arrays in the message's JSON, the message included; default 100
 */
export function findMissingFields<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  path = "",
  maxDepth: number = defaultMaxDepth,
): FieldViolation[] {
  const walk = startWalk(path, maxDepth);
  const checks = messageChecks(desc);
  runChecks(checks, message, walk, 1);
  return walk.violations;
}

/** Whether a message type demands this field: `google.api.field_behavior` says REQUIRED in the proto. */
export function isRequiredField(field: DescField): boolean {
  return requiredFields[field.parent?.typeName ?? ""]?.split(" ").includes(field.name) === true;
}

/**
 * Whether an empty value of this field counts as missing: `""` of a REQUIRED string, the zero of a REQUIRED enum, and
 * `[]` of the lists that need an element. Not `""` where it is a meaningful value.
 */
export function refusesEmpty(field: DescField): boolean {
  switch (field.fieldKind) {
    case "scalar":
      return field.scalar === ScalarType.STRING && isRequiredField(field) && !emptyStrings.has(field);
    case "enum":
      return isRequiredField(field);
    case "list":
      return nonEmptyLists.has(field);
    default:
      return false;
  }
}

/** REQUIRED lists that need an element; other REQUIRED lists and maps may be empty (ruling of H-7). */
const nonEmptyLists: ReadonlySet<DescField> = new Set([
  MessageSchema.field.parts,
  ArtifactSchema.field.parts,
  AgentCardSchema.field.supportedInterfaces,
]);

/** REQUIRED strings for which "" is a value: the last page has no next one. */
const emptyStrings: ReadonlySet<DescField> = new Set([ListTasksResponseSchema.field.nextPageToken]);

/** Oneofs that need a member (H-9). The proto has no annotation for this. */
const requiredOneofs: ReadonlySet<DescOneof> = new Set(PartSchema.oneofs);

/** A message as its fields by local name, as every generated message type is. */
type Fields = Readonly<Record<string, unknown>>;

/** Checks one field of a message whose JSON object is at level `depth`. */
type FieldCheck = (message: Fields, walk: FieldWalk, depth: number) => void;

/** Checks a set value at the walk's path, whose JSON object or array would be at level `depth`. */
type ValueCheck = (value: unknown, walk: FieldWalk, depth: number) => void;

const compiled = new WeakMap<DescMessage, FieldCheck[]>();

/** The checks of a message type, compiled on first use; empty when nothing in it can be wrong. */
function messageChecks(desc: DescMessage): readonly FieldCheck[] {
  const known = compiled.get(desc);
  if (known !== undefined) {
    return known;
  }
  const checks: FieldCheck[] = [];
  compiled.set(desc, checks); // before the fields, so that recursive types end
  checks.push(...desc.oneofs.filter((oneof) => requiredOneofs.has(oneof)).map(checkPresence));
  checks.push(...desc.fields.map(compileField).filter((check) => check !== undefined));
  return checks;
}

function runChecks(checks: readonly FieldCheck[], message: unknown, walk: FieldWalk, depth: number): void {
  for (const check of checks) {
    check(message as Fields, walk, depth); // messages are plain objects
  }
}

function checkPresence({ localName, fields }: DescOneof): FieldCheck {
  const problem = `needs exactly one of ${fields.map(({ jsonName }) => jsonName).join(", ")}`;
  return (message, walk) => {
    if ((message[localName] as Chosen).case === undefined) {
      report(walk, problem);
    }
  };
}

/** protobuf-es's shape of a oneof. */
interface Chosen {
  readonly case: string | undefined;
  readonly value?: unknown;
}

function compileField(field: DescField): FieldCheck | undefined {
  const { localName, jsonName, oneof } = field;
  const check = compileValue(field);
  if (oneof !== undefined) {
    return (
      check &&
      ((message, walk, depth) => {
        const chosen = message[oneof.localName] as Chosen;
        if (chosen.case === localName) {
          checkAt(walk, jsonName, check, chosen.value, depth);
        }
      })
    );
  }
  const isMissing = isRequiredField(field) ? missingTest(field) : undefined;
  const problem = nonEmptyLists.has(field) ? "needs at least one element" : "is required";
  if (isMissing === undefined && check === undefined) {
    return undefined;
  }
  return (message, walk, depth) => {
    const value = message[localName];
    if (isMissing?.(value) === true) {
      reportAt(walk, jsonName, problem);
    } else if (value !== undefined && check !== undefined) {
      checkAt(walk, jsonName, check, value, depth);
    }
  };
}

function checkAt(
  walk: FieldWalk,
  key: string | number,
  check: ValueCheck,
  value: unknown,
  depth: number,
): void {
  walk.path.push(key);
  check(value, walk, depth + 1);
  walk.path.pop();
}

/** When a REQUIRED field counts as missing; undefined when its default could be a value. */
function missingTest(field: DescField): ((value: unknown) => boolean) | undefined {
  switch (field.fieldKind) {
    case "message":
      return (value) => value === undefined;
    case "enum":
      return (value) => value === undefined || value === 0;
    case "list":
      return refusesEmpty(field) ? (value) => (value as readonly unknown[]).length === 0 : undefined; // a repeated field
    case "map":
      return undefined;
    case "scalar":
      return refusesEmpty(field)
        ? (value) => value === undefined || value === ""
        : (value) => value === undefined;
  }
}

/** The check of a field's set value; undefined when nothing in it can be wrong. */
function compileValue(field: DescField): ValueCheck | undefined {
  switch (field.fieldKind) {
    case "scalar":
      return isId(field) ? checkId : undefined;
    case "enum":
      return (value, walk) => {
        // The value of an enum field is its number.
        if (field.enum.value[value as number] === undefined) {
          report(walk, `must be a value of ${field.enum.name}`);
        }
      };
    case "message":
      return compileMessage(field.message);
    case "list":
    case "map":
      return field.message === undefined
        ? checkTexts(field)
        : compileElements(field.message, field.fieldKind);
  }
}

/** Names that callers choose, and that the server keeps, looks up and repeats in errors. */
function isId({ scalar, jsonName }: DescField): boolean {
  return scalar === ScalarType.STRING && /^(?:id|tenant)$|Id$/.test(jsonName);
}

/** In UTF-16 units. No id may be so long that V8 hashes it by its length alone (`longNameWeight`). */
export const maxIdLength = 512;

function checkId(value: unknown, walk: FieldWalk): void {
  const { length } = value as string; // by its type
  if (length > maxIdLength) {
    report(walk, `has ${length} characters; at most ${maxIdLength} are taken`);
  }
}

/** How many texts a list of the caller's may have, and of how many UTF-16 units each: what an agent does with them may take long. */
const textLimits: ReadonlyMap<DescField, { readonly maxTexts?: number; readonly maxLength: number }> =
  new Map([
    [
      SendMessageConfigurationSchema.field.acceptedOutputModes,
      { maxTexts: 100, maxLength: maxMediaTypeLength },
    ],
    [MessageSchema.field.extensions, { maxLength: 2_048 }],
    [MessageSchema.field.referenceTaskIds, { maxLength: maxIdLength }],
  ]);

function checkTexts(field: DescField): ValueCheck | undefined {
  const limits = textLimits.get(field);
  if (limits === undefined) {
    return undefined;
  }
  const { maxTexts = Number.POSITIVE_INFINITY, maxLength } = limits;
  return (value, walk) => {
    const texts = value as readonly string[]; // by the field's type
    if (texts.length > maxTexts) {
      report(walk, `has ${texts.length} texts; at most ${maxTexts} are taken`);
      return;
    }
    for (let index = 0; index < texts.length && !isFull(walk); index++) {
      const length = texts[index]?.length ?? 0;
      if (length > maxLength) {
        reportAt(walk, index, `has ${length} characters; at most ${maxLength} are taken`);
      }
    }
  };
}

function compileElements(desc: DescMessage, kind: "list" | "map"): ValueCheck | undefined {
  const check = compileMessage(desc);
  if (check === undefined) {
    return undefined;
  }
  if (kind === "map") {
    return (value, walk, depth) => {
      // A map field is a plain object.
      for (const [key, element] of Object.entries(value as Fields)) {
        checkAt(walk, key, check, element, depth);
      }
    };
  }
  return (value, walk, depth) => {
    const elements = value as readonly unknown[]; // a repeated field
    for (let index = 0; index < elements.length && !isFull(walk); index++) {
      checkAt(walk, index, check, elements[index], depth);
    }
  };
}

function compileMessage(desc: DescMessage): ValueCheck | undefined {
  switch (desc.typeName) {
    // protobuf-es keeps a Struct field as the JSON object itself, a Value as a message.
    case "google.protobuf.Struct":
      return (value, walk, depth) => checkJson(walk, value, depth);
    case "google.protobuf.Value":
      return (value, walk, depth) => checkValue(walk, value as Value, depth); // by the type's name
    case "google.protobuf.Timestamp":
      return (value, walk) => checkTimestampRange(walk, value as Timestamp); // by the type's name
    default: {
      const started = compiled.has(desc);
      const checks = messageChecks(desc);
      // A type that is still being compiled contains itself: its checks are not known yet.
      return checks.length === 0 && !started
        ? undefined
        : (value, walk, depth) => runChecks(checks, value, walk, depth);
    }
  }
}

/** google.protobuf.Timestamp: years 0001 to 9999, nanoseconds 0 to 999,999,999. JSON cannot carry others. */
function checkTimestampRange(walk: FieldWalk, { seconds, nanos }: Timestamp): void {
  if (seconds < -62135596800n || seconds > 253402300799n || nanos < 0 || nanos > 999_999_999) {
    report(walk, "must be between the years 0001 and 9999");
  }
}
