import {
  formatFieldPath,
  isObject,
  isRequiredField,
  mergeMembers,
  toTable,
} from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import type { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { CardTextError } from "./unambiguous-text.ts";

/** Who is told what on the way. Paths are to be read at once. */
export interface PruneOptions {
  /** Called for each member that the schema does not have, which is then left out. Default: they stay, untouched (requirement M-6). */
  readonly onUnknown?: (path: readonly (string | number)[]) => void;
  /** Called for each REQUIRED member that is missing. */
  readonly onMissing?: (path: readonly (string | number)[]) => void;
}

/**
 * The JSON of a card with nothing in it that says nothing, by the rules of spec §8.4.1 (requirements M):
 *
 * - a REQUIRED field stays, also when it is empty; one that is missing is not invented;
 * - an `optional` field stays when it is set, and so does a message, and the member of a oneof;
 * - any other field at its default is left out: `""`, `false`, `[]`, `{}`, as is `null` (unset in ProtoJSON);
 * - keys of maps, elements of lists, and everything inside a Struct stay;
 * - names are those of ProtoJSON.
 *
 * Total: a value of a type that the field does not have stays as it is, for others to judge. What is given is not changed; parts
 * of it may be part of the result.
 *
 * @throws CardTextError `both-spellings` when a field stands there as `tokenUrl` and as `token_url`
 */
export function pruneCard(json: JsonObject, options: PruneOptions = {}): JsonObject {
  return prune(AgentCardSchema, json, { ...options, path: [] });
}

interface PruneWalk extends PruneOptions {
  readonly path: (string | number)[];
}

function prune(message: DescMessage, json: JsonObject, walk: PruneWalk): JsonObject {
  const { path, onUnknown, onMissing } = walk;
  const pruned: JsonObject = {};
  const unknown: [string, JsonValue][] = [];
  for (const name of Object.keys(json)) {
    const value = json[name] as JsonValue; // a name that it has
    const field = message.fields.find((each) => name === each.jsonName || name === each.name);
    path.push(name);
    if (field === undefined) {
      if (onUnknown === undefined) unknown.push([name, value]);
      else onUnknown(path);
    } else {
      const { jsonName } = field;
      if (name !== jsonName && Object.hasOwn(json, jsonName)) throw bothSpellings(jsonName, path);
      if (!saysNothing(field, value)) pruned[jsonName] = pruneField(field, value, walk);
    }
    path.pop();
  }
  if (onMissing !== undefined) {
    const missing = message.fields.filter(({ jsonName }) => !Object.hasOwn(pruned, jsonName));
    for (const { jsonName } of missing.filter(isRequiredField)) onMissing([...path, jsonName]);
  }
  // An assignment would lose one that is called `__proto__`.
  return unknown.length === 0 ? pruned : mergeMembers(pruned, toTable(unknown));
}

function bothSpellings(jsonName: string, path: PruneWalk["path"]): CardTextError {
  const where = formatFieldPath(path);
  const problem = `the field ${where} is there twice, also as ${jsonName}: a card has each field once`;
  return new CardTextError("both-spellings", problem, where);
}

/** The number alone, because its enum brings the whole schema of descriptors into a bundle. */
const explicit: typeof FeatureSet_FieldPresence.EXPLICIT = 1;

/** Whether a field may be left out: it is not REQUIRED, and that it is set cannot be told from its value. */
function saysNothing(field: DescField, value: JsonValue): boolean {
  if (value === null) return true;
  if (!isEmpty(field, value) || isRequiredField(field)) return false;
  return field.fieldKind !== "scalar" || field.presence !== explicit;
}

/** Knows only what cards consist of: messages that do not contain themselves, lists and maps of them, texts, booleans and Structs. */
function isEmpty({ fieldKind, scalar }: DescField, value: JsonValue): boolean {
  if (fieldKind === "scalar") return value === (scalar === ScalarType.BOOL ? false : "");
  if (fieldKind === "list") return Array.isArray(value) && value.length === 0;
  return fieldKind === "map" && isObject(value) && Object.keys(value).length === 0;
}

function pruneField({ fieldKind, message }: DescField, value: JsonValue, walk: PruneWalk): JsonValue {
  // A Struct stays as its author wrote it (requirement H-13).
  if (message === undefined || message.typeName.startsWith("google.protobuf.")) return value;
  const pruneAt = (at: string | number, each: JsonValue) => {
    if (!isObject(each)) return each;
    walk.path.push(at);
    const pruned = prune(message, each, walk);
    walk.path.pop();
    return pruned;
  };
  if (fieldKind === "list") {
    return Array.isArray(value) ? value.map((element, index) => pruneAt(index, element)) : value;
  }
  if (!isObject(value)) return value;
  if (fieldKind === "message") return prune(message, value, walk);
  return toTable(Object.entries(value).map(([key, each]) => [key, pruneAt(key, each)]));
}
