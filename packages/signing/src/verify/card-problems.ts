import { findWrongFields, formatFieldPath, isRequiredField } from "@a2a-connect/core";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Problems that are told of one card: more would tell nobody more. */
const maxProblems = 10;

/**
 * Why a card is none: types that are wrong, and REQUIRED members that are missing (spec §5.7, §8.4.1). A REQUIRED member that is
 * there but empty is fine here: this asks whether the card can be told from its JSON, not whether it is of use.
 *
 * @param unsigned the card without what says nothing (`pruneUnsigned`), so that members have one spelling
 * @returns sentences without a full stop, such as `skills[0].name is missing`
 */
export function findCardProblems(unsigned: JsonObject): readonly string[] {
  const wrong = findWrongFields(AgentCardSchema, unsigned).map(
    ({ field, description }) => `${field === "" ? "the card" : field} ${description}`,
  );
  return [...wrong, ...findMissing(unsigned)].slice(0, maxProblems);
}

function findMissing(unsigned: JsonObject): readonly string[] {
  const walk: MissingWalk = { path: [], missing: [] };
  checkMessage(fieldsOf(AgentCardSchema), unsigned, walk);
  return walk.missing;
}

interface MissingWalk {
  readonly path: (string | number)[];
  readonly missing: string[];
}

/** What has to be looked at in a message: fields that must be there, or that have such fields below them. */
interface CheckedField {
  readonly name: string;
  readonly required: boolean;
  readonly below: ((value: JsonValue, walk: MissingWalk) => void) | undefined;
}

const compiled = new WeakMap<DescMessage, readonly CheckedField[]>();

/** Compiled on first use. */
function fieldsOf(desc: DescMessage): readonly CheckedField[] {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  const fields: CheckedField[] = [];
  compiled.set(desc, fields); // before the fields, so that recursive types end
  for (const field of desc.fields) {
    const checked = { name: field.jsonName, required: isRequiredField(field), below: checkBelow(field) };
    if (checked.required || checked.below !== undefined) fields.push(checked);
  }
  return fields;
}

function checkBelow(field: DescField): CheckedField["below"] {
  // The JSON of a well-known type is its own (requirement H-13).
  if (field.message === undefined || field.message.typeName.startsWith("google.protobuf.")) return undefined;
  const fields = fieldsOf(field.message);
  switch (field.fieldKind) {
    case "list":
      return (value, walk) => {
        if (Array.isArray(value)) checkEach(fields, value.entries(), walk);
      };
    case "map":
      return (value, walk) => {
        if (isObject(value)) checkEach(fields, Object.entries(value), walk);
      };
    default:
      return (value, walk) => checkMessage(fields, value, walk);
  }
}

function checkEach(
  fields: readonly CheckedField[],
  entries: Iterable<readonly [string | number, JsonValue]>,
  walk: MissingWalk,
): void {
  for (const [key, value] of entries) {
    walk.path.push(key);
    checkMessage(fields, value, walk);
    walk.path.pop();
  }
}

/** Says nothing of what is no object: that is a wrong type. */
function checkMessage(fields: readonly CheckedField[], json: JsonValue, walk: MissingWalk): void {
  if (!isObject(json)) return;
  for (const { name, required, below } of fields) {
    const value = json[name];
    walk.path.push(name);
    if (value !== undefined) {
      below?.(value, walk);
    } else if (required && walk.missing.length < maxProblems) {
      walk.missing.push(`${formatFieldPath(walk.path)} is missing`);
    }
    walk.path.pop();
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
