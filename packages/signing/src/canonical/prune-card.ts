import { formatFieldPath, isObject, isRequiredField } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import type { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { setMember } from "./json.ts";
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
  cardRules ??= readRules(AgentCardSchema);
  return prune(cardRules, json, { ...options, path: [] });
}

/** Read on first use. */
let cardRules: MessageRules | undefined;

interface PruneWalk extends PruneOptions {
  readonly path: (string | number)[];
}

interface MessageRules {
  /** By either spelling of a field's name. */
  readonly fields: ReadonlyMap<string, FieldRule>;
  /** Names of REQUIRED fields. */
  readonly required: readonly string[];
}

interface FieldRule {
  readonly jsonName: string;
  readonly kind: DescField["fieldKind"];
  /** The default of a scalar. */
  readonly zero: false | "";
  /** Whether the field stays at its default: it is REQUIRED, or that it is set can be told from its value. */
  readonly staysEmpty: boolean;
  /** What is pruned below: the message, or each message of the list or map. Undefined: nothing is. */
  readonly below: MessageRules | undefined;
}

/** Knows only what cards consist of: messages that do not contain themselves, lists and maps of them, texts, booleans and Structs. */
function readRules({ fields }: DescMessage): MessageRules {
  const rules = fields.map((field): readonly [DescField, FieldRule] => [field, readRule(field)]);
  return {
    fields: new Map(rules.flatMap(([{ name, jsonName }, rule]) => [[jsonName, rule] as const, [name, rule]])),
    required: fields.filter(isRequiredField).map(({ jsonName }) => jsonName),
  };
}

function readRule(field: DescField): FieldRule {
  const { fieldKind: kind, jsonName, message } = field;
  const isExplicit = kind !== "list" && kind !== "map" && field.presence === explicit;
  // A Struct stays as its author wrote it (requirement H-13).
  const isOwn = message !== undefined && !message.typeName.startsWith("google.protobuf.");
  return {
    jsonName,
    kind,
    zero: field.scalar === ScalarType.BOOL ? false : "",
    staysEmpty: isExplicit || isRequiredField(field),
    below: isOwn ? readRules(message) : undefined,
  };
}

/** The number alone, because its enum brings the whole schema of descriptors into a bundle. */
const explicit: typeof FeatureSet_FieldPresence.EXPLICIT = 1;

function prune(rules: MessageRules, json: JsonObject, walk: PruneWalk): JsonObject {
  const { path, onUnknown, onMissing } = walk;
  const pruned: JsonObject = {};
  for (const name of Object.keys(json)) {
    const value = json[name] as JsonValue; // a name that it has
    const rule = rules.fields.get(name);
    path.push(name);
    if (rule === undefined) {
      if (onUnknown === undefined) setMember(pruned, name, value);
      else onUnknown(path);
    } else {
      const { jsonName } = rule;
      if (name !== jsonName && Object.hasOwn(json, jsonName)) throw bothSpellings(jsonName, path);
      if (!saysNothing(rule, value)) pruned[jsonName] = pruneField(rule, value, walk);
    }
    path.pop();
  }
  if (onMissing !== undefined) {
    for (const name of rules.required) {
      if (!Object.hasOwn(pruned, name)) onMissing([...path, name]);
    }
  }
  return pruned;
}

function bothSpellings(jsonName: string, path: PruneWalk["path"]): CardTextError {
  const where = formatFieldPath(path);
  const problem = `the field ${where} is there twice, also as ${jsonName}: a card has each field once`;
  return new CardTextError("both-spellings", problem, where);
}

function saysNothing({ kind, zero, staysEmpty }: FieldRule, value: JsonValue): boolean {
  if (value === null) return true;
  if (staysEmpty) return false;
  if (kind === "scalar") return value === zero;
  if (kind === "list") return Array.isArray(value) && value.length === 0;
  return kind === "map" && isObject(value) && Object.keys(value).length === 0;
}

function pruneField({ kind, below }: FieldRule, value: JsonValue, walk: PruneWalk): JsonValue {
  if (below === undefined) return value;
  const pruneAt = (at: string | number, each: JsonValue) => {
    if (!isObject(each)) return each;
    walk.path.push(at);
    const pruned = prune(below, each, walk);
    walk.path.pop();
    return pruned;
  };
  if (kind === "list") {
    return Array.isArray(value) ? value.map((element, index) => pruneAt(index, element)) : value;
  }
  if (!isObject(value)) return value;
  if (kind === "message") return prune(below, value, walk);
  const map: JsonObject = {};
  for (const [key, each] of Object.entries(value)) setMember(map, key, pruneAt(key, each));
  return map;
}
