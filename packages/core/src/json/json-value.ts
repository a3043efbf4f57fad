import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Struct, Value } from "@bufbuild/protobuf/wkt";
import { defaultMaxDepth, type FieldWalk, isFull, report, reportAt } from "../field-walk.ts";

/** Whether parsed JSON is an object. */
export function isObject(json: JsonValue | undefined): json is JsonObject;
export function isObject(json: unknown): json is Record<string, unknown>;
export function isObject(json: unknown): boolean {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/**
 * An empty object without a prototype, which V8 keeps as a table. Otherwise an object with many different names, and
 * many objects of a few names each, would get a hidden class for every name, which takes a microsecond and a hundred
 * bytes. A member `__proto__` is an ordinary member of a table.
 */
export function createTable<T>(): Record<string, T> {
  return Object.create(null);
}

/**
 * Sets a member whose name was chosen by others. V8 keeps members that are named by array indexes in an array with gaps:
 * `{"1023":0,"2573":0}` takes 31 KB and 50 µs. Once an object has had the last of all indexes, it keeps such members in a table,
 * and this one takes 400 bytes and 1 µs. Copies by a spread, `Object.assign`, `Object.fromEntries` or `structuredClone` have
 * gaps again.
 */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (mayBeIndex(name)) {
    packIndexes(object);
  }
  object[name] = value;
}

/** From here on an object has no gaps (`setMember`), though it may have had some. */
export function packIndexes(object: Record<string, unknown>): void {
  if (Object.hasOwn(object, lastIndex)) {
    return;
  }
  object[lastIndex] = undefined;
  delete object[lastIndex];
}

/** A table with these members. Names may be chosen by others (`setMember`). */
export function toTable<T>(members: Iterable<readonly [name: string, value: T]>): Record<string, T> {
  const table = createTable<T>();
  for (const [name, value] of members) {
    setMember(table, name, value);
  }
  return table;
}

/** A table with the members of all these objects, as a spread of them would have them. */
export function mergeMembers<T>(
  ...objects: readonly (Readonly<Record<string, T>> | undefined)[]
): Record<string, T> {
  return toTable(objects.flatMap((object) => Object.entries(object ?? {})));
}

const lastIndex = 2 ** 32 - 2;

/** An index of one digit leaves no gap that matters. */
export function mayBeIndex(name: string): boolean {
  const first = name.charCodeAt(0);
  return name.length >= 2 && name.length <= 10 && first >= 0x30 && first <= 0x39;
}

/**
 * What the name of a member counts towards a limit on values, besides one. V8 hashes a text of more than 16,383 characters
 * by its length alone, and keeps all names of members in one table: each such name is compared with all others of its length that
 * are in memory, of all requests and tasks. With 3,000 of them the next thousand takes ten seconds. So no usual limit permits one.
 */
export function longNameWeight(length: number): number {
  return length > maxNameLength ? 2 ** 18 : 0;
}

/** An object with more names than this is a hash table to engines: to build, compare or copy it takes a microsecond a name. */
export const manyNames = 1_000;

/** In UTF-16 units: of the name of a member that an agent or a caller may choose. */
export const maxNameLength = 16_383;

/* ---- The message form of JSON ---- */

/** The same object as from `create`, at a tenth of the cost. */
export function toValue(kind: Value["kind"]): Value {
  return { $typeName: "google.protobuf.Value", kind };
}

function nullValue(): Value {
  return toValue({ case: "nullValue", value: 0 });
}

/**
 * A Value as JSON whose members and elements are still Values.
 *
 * @throws Error for a Value without a kind
 */
export function openValue({ kind }: Value): unknown {
  switch (kind.case) {
    case "structValue":
      return kind.value.fields;
    case "listValue":
      return kind.value.values;
    case "nullValue":
      return null;
    case undefined:
      throw new Error("google.protobuf.Value must have a value");
    default:
      return kind.value;
  }
}

/**
 * The JSON of a Value.
 *
 * @throws Error for values that JSON cannot hold
 */
export function writeJsonValue(value: Value): JsonValue {
  return write(value, false);
}

/** @param forUsers whether objects have the prototype that `JSON.parse` gives them */
function write(value: Value, forUsers: boolean): JsonValue {
  const json = openValue(value);
  if (Array.isArray(json)) {
    return json.map((each) => write(each, forUsers));
  }
  if (!isObject(json)) {
    return assertJson(json as JsonValue); // all that a Value may hold
  }
  const keys = Object.keys(json);
  const members: JsonObject = keys.length === 0 ? {} : createTable<JsonValue>();
  for (const key of keys) {
    setMember(members, key, write(json[key] as Value, forUsers)); // a key of its own
  }
  if (forUsers) Object.setPrototypeOf(members, Object.prototype);
  return members;
}

/**
 * A Value as `JSON.parse` would have made it, for users: with the prototypes that {@link writeJsonValue} saves.
 *
 * @throws Error for values that JSON cannot hold
 */
export function toJsonValue(value: Value): JsonValue {
  return write(value, true);
}

/**
 * The message form of any JSON. It is checked where it is sent. An object that stands in many places of the JSON is one in the
 * message form, too: all its places together may be millions of values.
 *
 * @throws Error for a value that is not JSON, or is nested deeper than messages may be
 */
export function fromJsonValue(json: JsonValue, known: KnownValues = new KnownValues()): Value {
  return convert(json, defaultMaxDepth, known);
}

/** The message forms of objects that may occur again, of JSON that does not change meanwhile. */
export class KnownValues {
  readonly #known = new Map<object, { readonly value: Value; readonly levels: number }>();
  /** How many values were made. */
  made = 0;

  /** @param levels how deep it may be nested: what was converted for fewer is not deeper */
  find(json: object, levels: number): Value | undefined {
    if (this.#known.size === 0) return undefined;
    const known = this.#known.get(json);
    return known !== undefined && known.levels <= levels ? known.value : undefined;
  }

  /** @param before how many values were made before those of this one */
  add(json: object, value: Value, levels: number, before: number): void {
    if (this.made - before > quickValues) this.#known.set(json, { value, levels });
  }
}

/** To remember an object of so few values takes longer than to convert it again. */
const quickValues = 32;

function convert(json: JsonValue, levels: number, known: KnownValues): Value {
  known.made += 1;
  switch (typeof json) {
    case "string":
      return toValue({ case: "stringValue", value: json });
    case "number":
      return toValue({ case: "numberValue", value: json });
    case "boolean":
      return toValue({ case: "boolValue", value: json });
    case "object":
      return json === null ? nullValue() : (known.find(json, levels) ?? fromContainer(json, levels, known));
    default:
      throw new Error(`a JSON value cannot be a ${typeof json}`);
  }
}

function fromContainer(json: JsonObject | JsonValue[], levels: number, known: KnownValues): Value {
  if (levels === 0) {
    throw new Error(`a JSON value cannot be nested deeper than ${defaultMaxDepth} levels`);
  }
  const before = known.made;
  if (Array.isArray(json)) {
    const values = json.map((each) => convert(each, levels - 1, known));
    const list = toValue({ case: "listValue", value: { $typeName: "google.protobuf.ListValue", values } });
    known.add(json, list, levels, before);
    return list;
  }
  const fields = createTable<Value>();
  for (const key of Object.keys(json)) {
    setMember(fields, key, convert(json[key] as JsonValue, levels - 1, known)); // a key of its own
  }
  const struct = toValue({ case: "structValue", value: { $typeName: "google.protobuf.Struct", fields } });
  known.add(json, struct, levels, before);
  return struct;
}

/**
 * The same JSON.
 *
 * @throws Error for a number that JSON cannot hold, at any depth
 */
export function assertJson<T extends JsonValue>(json: T): T {
  if (typeof json === "number" && !Number.isFinite(json)) {
    throw new Error("google.protobuf.Value cannot be NaN or Infinity");
  }
  if (typeof json === "object" && json !== null) {
    const elements: readonly JsonValue[] = Array.isArray(json) ? json : Object.values<JsonValue>(json);
    for (const element of elements) {
      assertJson(element);
    }
  }
  return json;
}

/* ---- JSON of the caller's own (Struct, Value and unknown fields) ---- */

/**
 * Checks JSON of the caller's own: not nested deeper than the limit, no `__proto__` key, valid Unicode, finite numbers.
 * Everything else in it is allowed (requirement H-13).
 *
 * The walk stops at the limit, so `walk.maxDepth` bounds its recursion, never the input.
 *
 * @param depth nesting level that `json` has if it is an object or array; the message itself is 1
 */
export function checkJson(walk: FieldWalk, json: unknown, depth: number): void {
  checkAny(walk, json, depth, false);
}

/** The same for the message form of JSON, which must have a kind at every depth. */
export function checkValue(walk: FieldWalk, value: Value, depth: number): void {
  checkAny(walk, value, depth, true);
}

/** @param isValue whether the element is a Value, and not JSON itself */
function checkAny(walk: FieldWalk, element: unknown, depth: number, isValue: boolean): void {
  if (isValue && (element as Value).kind.case === undefined) {
    report(walk, "must have a value");
    return;
  }
  const json = isValue ? openValue(element as Value) : element;
  switch (typeof json) {
    case "string":
      checkUnicode(walk, json);
      return;
    case "number":
      checkFinite(walk, json);
      return;
    case "boolean":
      return;
    case "object":
      if (json !== null && enterContainer(walk, depth)) {
        checkContainer(walk, json, depth, isValue);
      }
      return;
    default:
      report(walk, "is not a JSON value");
  }
}

function checkContainer(walk: FieldWalk, json: object, depth: number, isValue: boolean): void {
  if (Array.isArray(json)) {
    for (let index = 0; index < json.length && !isFull(walk); index++) {
      walk.path.push(index);
      checkAny(walk, json[index], depth + 1, isValue);
      walk.path.pop();
    }
    return;
  }
  for (const key of Object.keys(json)) {
    if (checkKey(walk, key)) {
      walk.path.push(key);
      checkAny(walk, (json as JsonObject)[key], depth + 1, isValue); // a key of its own
      walk.path.pop();
    }
    if (isFull(walk)) {
      return;
    }
  }
}

/**
 * The message form of JSON of the caller's own. It is checked by the same rules as in `checkJson` while it is built.
 *
 * @param depth nesting level that `json` has if it is an object or array
 * @returns null for values that are not JSON, and for those nested too deeply; both are reported
 */
export function readJsonValue(walk: FieldWalk, json: unknown, depth: number): Value {
  switch (typeof json) {
    case "string":
      checkUnicode(walk, json);
      return toValue({ case: "stringValue", value: json });
    case "number":
      checkFinite(walk, json);
      return toValue({ case: "numberValue", value: json });
    case "boolean":
      return toValue({ case: "boolValue", value: json });
    case "object":
      return json !== null && enterContainer(walk, depth) ? readContainer(walk, json, depth) : nullValue();
    default:
      report(walk, "is not a JSON value");
      return nullValue();
  }
}

function readContainer(walk: FieldWalk, json: object, depth: number): Value {
  if (Array.isArray(json)) {
    const values: Value[] = [];
    for (let index = 0; index < json.length && !isFull(walk); index++) {
      walk.path.push(index);
      values.push(readJsonValue(walk, json[index], depth + 1));
      walk.path.pop();
    }
    return toValue({ case: "listValue", value: { $typeName: "google.protobuf.ListValue", values } });
  }
  const keys = Object.keys(json);
  const fields = keys.length === 0 ? {} : createTable<Value>();
  for (const key of keys) {
    if (checkKey(walk, key)) {
      walk.path.push(key);
      setMember(fields, key, readJsonValue(walk, (json as JsonObject)[key], depth + 1)); // a key of its own
      walk.path.pop();
    }
    if (isFull(walk)) {
      break;
    }
  }
  const struct: Struct = { $typeName: "google.protobuf.Struct", fields };
  return toValue({ case: "structValue", value: struct });
}

/** Whether an object or array at `depth` is within the limit. Reports it when it is not. */
export function enterContainer(walk: FieldWalk, depth: number): boolean {
  if (depth <= walk.maxDepth) {
    return true;
  }
  report(walk, `is nested deeper than ${walk.maxDepth} levels`);
  return false;
}

/**
 * Whether a key may be used. JSON.parse makes `__proto__` an ordinary member, but a careless assignment in an agent's
 * code would later make it a prototype. So it is refused, and left out by a lenient walk.
 */
export function checkKey(walk: FieldWalk, key: string): boolean {
  if (key === "__proto__") {
    if (!walk.isLenient) {
      reportAt(walk, key, "this key is not allowed");
    }
    return false;
  }
  if (!key.isWellFormed()) {
    reportAt(walk, key, "must be valid Unicode");
    return false;
  }
  return true;
}

/** Reports a lone surrogate: protobuf strings are UTF-8, which cannot encode one. */
export function checkUnicode(walk: FieldWalk, text: string): void {
  if (!text.isWellFormed()) {
    report(walk, "must be valid Unicode");
  }
}

function checkFinite(walk: FieldWalk, number: number): void {
  if (!Number.isFinite(number)) {
    report(walk, "must be a finite number");
  }
}

/**
 * The same JSON as `JSON.parse` would have made it. Agents may call `metadata.hasOwnProperty`, which tables do not
 * have.
 */
export function withPrototypes(json: JsonObject): JsonObject {
  if (Object.getPrototypeOf(json) === null) {
    adoptPrototypes(json);
  }
  return json;
}

function adoptPrototypes(json: JsonValue): void {
  if (typeof json !== "object" || json === null) {
    return;
  }
  if (Array.isArray(json)) {
    json.forEach(adoptPrototypes);
    return;
  }
  for (const name of Object.keys(json)) {
    adoptPrototypes(json[name] as JsonValue); // a key of its own
  }
  Object.setPrototypeOf(json, Object.prototype);
}
