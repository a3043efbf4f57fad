import { formatFieldPath, isObject, isRequiredField } from "@a2a-connect/core/internal";
import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import type { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { setMember } from "./json.ts";
import { CardTextError } from "./read-card-text.ts";

/** Who is told what on the way. Paths are to be read at once. */
export interface PruneOptions {
  /** Called for each member that the schema does not have, which is then left out. Default: they stay, untouched (requirement M-6). */
  readonly onUnknown?: (path: readonly (string | number)[]) => void;
  /** Called for each REQUIRED member that is missing. */
  readonly onMissing?: (path: readonly (string | number)[]) => void;
}

/**
 * The JSON of a message with nothing in it that says nothing, by the rules of spec §8.4.1 (requirements M):
 *
 * - a REQUIRED field stays, also when it is empty; one that is missing is not invented;
 * - an `optional` field stays when it is set, and so does a message, and the member of a oneof;
 * - any other field at its default is left out: `""`, `false`, 0, `[]`, `{}`, as is `null` (unset in ProtoJSON);
 * - keys of maps, elements of lists, and everything inside Struct and Value stay;
 * - names are those of ProtoJSON, enums are names.
 *
 * Total: a value of a type that the field does not have stays as it is, for others to judge. What is given is not changed; parts
 * of it may be part of the result.
 *
 * @throws CardTextError `both-spellings` when a field stands there as `tokenUrl` and as `token_url`
 */
export function pruneMessage(desc: DescMessage, json: JsonObject, options: PruneOptions = {}): JsonObject {
  return prune(rulesOf(desc), json, { ...options, path: [] });
}

interface PruneWalk extends PruneOptions {
  readonly path: (string | number)[];
}

/** What is done with one field. */
interface FieldRule {
  readonly jsonName: string;
  /** Whether this value says nothing. */
  readonly saysNothing: (value: JsonValue) => boolean;
  /** Prunes below it; undefined where there is nothing to prune. */
  readonly pruneBelow: ((value: JsonValue, walk: PruneWalk) => JsonValue) | undefined;
}

interface MessageRules {
  /** By either spelling of a field's name. */
  readonly fields: Map<string, FieldRule>;
  /** Names of REQUIRED fields. */
  readonly required: string[];
}

const compiled = new WeakMap<DescMessage, MessageRules>();

/** The rules of a message type, compiled on first use. */
function rulesOf(desc: DescMessage): MessageRules {
  const known = compiled.get(desc);
  if (known !== undefined) {
    return known;
  }
  const rules: MessageRules = { fields: new Map(), required: [] };
  compiled.set(desc, rules); // before the fields, so that recursive types end
  for (const field of desc.fields) {
    const rule: FieldRule = {
      jsonName: field.jsonName,
      saysNothing: emptinessOf(field),
      pruneBelow: pruningOf(field),
    };
    rules.fields.set(field.jsonName, rule).set(field.name, rule);
    if (isRequiredField(field)) rules.required.push(field.jsonName);
  }
  return rules;
}

function prune(rules: MessageRules, json: JsonObject, walk: PruneWalk): JsonObject {
  const pruned: JsonObject = {};
  for (const name of Object.keys(json)) {
    const value = json[name] as JsonValue; // a name that it has
    const rule = rules.fields.get(name);
    walk.path.push(name);
    if (rule !== undefined) {
      refuseOtherSpelling(rule, name, json, walk);
      if (!rule.saysNothing(value)) pruned[rule.jsonName] = rule.pruneBelow?.(value, walk) ?? value;
    } else if (walk.onUnknown === undefined) {
      setMember(pruned, name, value);
    } else {
      walk.onUnknown(walk.path);
    }
    walk.path.pop();
  }
  if (walk.onMissing !== undefined) {
    for (const name of rules.required) {
      if (!Object.hasOwn(pruned, name)) walk.onMissing([...walk.path, name]);
    }
  }
  return pruned;
}

function refuseOtherSpelling(
  { jsonName }: FieldRule,
  name: string,
  json: JsonObject,
  { path }: PruneWalk,
): void {
  if (name !== jsonName && Object.hasOwn(json, jsonName)) {
    const where = formatFieldPath(path);
    const problem = `the field ${where} stands there as ${jsonName}, too, and nobody knows which one counts`;
    throw new CardTextError("both-spellings", problem, where);
  }
}

function emptinessOf(field: DescField): (value: JsonValue) => boolean {
  if (holdsAnyJson(field)) return () => false; // null is a value there (requirement H-10)
  const isDefault = isRequiredField(field) || isExplicit(field) ? () => false : defaultOf(field);
  return (value) => value === null || isDefault(value);
}

/** Whether a value is what a field has that is not set. */
function defaultOf(field: DescField): (value: JsonValue) => boolean {
  switch (field.fieldKind) {
    case "list":
      return (value) => Array.isArray(value) && value.length === 0;
    case "map":
      return (value) => isObject(value) && Object.keys(value).length === 0;
    case "enum": {
      const zero = field.enum.value[0]?.name;
      return (value) => value === 0 || value === zero;
    }
    case "scalar":
      return defaultScalar(field.scalar);
    case "message":
      return () => false;
  }
}

function defaultScalar(type: ScalarType): (value: JsonValue) => boolean {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return (value) => value === "";
    case ScalarType.BOOL:
      return (value) => value === false;
    default:
      return (value) => value === 0 || value === "0"; // ProtoJSON has 64-bit integers as text
  }
}

/** `optional`, a member of a oneof, or a message: whether it is set can be told from its value. */
function isExplicit(field: DescField): boolean {
  const isSingle = field.fieldKind !== "list" && field.fieldKind !== "map";
  return isSingle && field.presence === explicit;
}

function holdsAnyJson(field: DescField): boolean {
  return field.fieldKind === "message" && field.message.typeName === "google.protobuf.Value";
}

function pruningOf(field: DescField): FieldRule["pruneBelow"] {
  if (field.fieldKind === "enum") {
    return (value) => (typeof value === "number" ? (field.enum.value[value]?.name ?? value) : value);
  }
  // The JSON of a well-known type is its own: a Struct stays as its author wrote it (requirement H-13).
  if (field.message === undefined || field.message.typeName.startsWith("google.protobuf.")) {
    return undefined;
  }
  const rules = rulesOf(field.message);
  switch (field.fieldKind) {
    case "list":
      return (value, walk) => (Array.isArray(value) ? pruneElements(rules, value, walk) : value);
    case "map":
      return (value, walk) => (isObject(value) ? pruneValues(rules, value, walk) : value);
    default:
      return (value, walk) => (isObject(value) ? prune(rules, value, walk) : value);
  }
}

function pruneElements(rules: MessageRules, elements: readonly JsonValue[], walk: PruneWalk): JsonValue[] {
  return elements.map((element, index) => {
    walk.path.push(index);
    const pruned = isObject(element) ? prune(rules, element, walk) : element;
    walk.path.pop();
    return pruned;
  });
}

function pruneValues(rules: MessageRules, map: JsonObject, walk: PruneWalk): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(map)) {
    walk.path.push(key);
    setMember(result, key, isObject(value) ? prune(rules, value, walk) : value);
    walk.path.pop();
  }
  return result;
}

/** The number alone, because its enum brings the whole schema of descriptors into a bundle. */
const explicit: typeof FeatureSet_FieldPresence.EXPLICIT = 1;
