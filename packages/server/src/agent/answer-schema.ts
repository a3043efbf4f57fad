import { isObject, shownText } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Validator } from "@cfworker/json-schema";

/** Largest data that is checked: values, and characters of texts and names. */
const maxSize = 65_536;

/** Longest text that is compared with a `pattern` or a `format`: regular expressions may take the square of its length. */
const maxMatchedLength = 1_000;

/**
 * Steps of one check. A schema that refers to itself in alternatives may take an exponential number, and `uniqueItems` compares each
 * item with each other one. So many take a third of a second at most.
 */
const maxSteps = 400_000;

/** Steps of a value that is checked against a schema; it reads every keyword that there is. */
const schemaSteps = 4;

/** Entries of a keyword, such as the values of an `enum`, that count as a step. */
const entriesInAStep = 16;

/** Keywords whose objects have schemas as members. */
const schemaMaps = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/** Keywords whose values are no schemas. */
const literals = new Set(["const", "enum", "default", "examples"]);

class TooManySteps extends Error {}

/** @throws Error when the schema has an unresolved reference; SyntaxError when it has an invalid pattern */
export function assertSchema(schema: JsonObject): void {
  createCheck(schema)(null);
}

/**
 * Says why data does not fit a schema, in a sentence for the sender; undefined when it fits. The same data always has the same answer:
 * the number of steps is limited, not the time.
 */
export function findMismatch(schema: JsonObject, data: JsonValue): string | undefined {
  try {
    if (isTooLarge(data)) return tooLong;
    const { valid, errors } = createCheck(schema)(data); // up to the first error
    if (valid) return undefined;
    const problem = errors.at(-1); // the innermost error says what is wrong, the outer ones only where
    const { instanceLocation = "#", error = "it is not valid" } = problem ?? {};
    return `The answer does not fit at "${shownText(instanceLocation)}": ${shownText(error)}`; // both may have names of the answer
  } catch (error) {
    // RangeError: the data is nested too deeply; or the validator passes all errors so far as arguments, and there are too many for a call.
    if (error instanceof TooManySteps || error instanceof RangeError) return tooManySteps;
    throw error;
  }
}

/** For a text that is too long to be compared or parsed. */
export const tooLong: string = `The answer is too long: at most ${maxSize} characters are read.`;

const tooManySteps = "The answer takes too long to check: send less data.";

/** Whether a text is longer than what is compared with choices, or parsed for a schema. */
export function isTooLong(text: string): boolean {
  return text.length > maxSize;
}

function isTooLarge(data: JsonValue): boolean {
  let left = maxSize;
  const take = (value: JsonValue): boolean => {
    left -= typeof value === "string" ? value.length : 1;
    if (left < 0 || typeof value !== "object" || value === null) return left < 0;
    if (Array.isArray(value)) return value.some(take);
    return Object.entries(value).some(([name, member]) => {
      left -= name.length;
      return take(member);
    });
  };
  return take(data);
}

/** The validator cannot be stopped from outside. So it gets a schema, and data, that count what it reads, and throw. */
function createCheck(schema: JsonObject): (data: JsonValue) => ReturnType<Validator["validate"]> {
  let left = maxSteps;
  const spend = (steps: number): void => {
    left -= steps;
    if (left < 0) throw new TooManySteps();
  };
  const counting = new CountingSchema(spend);
  const validator = new Validator(counting.copy(schema) as JsonObject, "2020-12");
  left = maxSteps;
  return (data) => validator.validate(counting.readsAgain ? countReads(data, spend) : data);
}

/** Copies a schema. Each object of the copy counts a step whenever a value is checked against it. */
class CountingSchema {
  /** Whether a check may read data more than once: to compare items with each other, or names with patterns. */
  readsAgain = false;
  readonly #spend: (steps: number) => void;

  constructor(spend: (steps: number) => void) {
    this.#spend = spend;
  }

  copy(schema: JsonValue): JsonValue {
    if (Array.isArray(schema)) return schema.map((each) => this.copy(each));
    if (!isObject(schema)) return schema;
    const { pattern, format, ...others } = schema;
    this.readsAgain ||= "uniqueItems" in others || "patternProperties" in others;
    const copied = Object.fromEntries(
      Object.entries(others).map(([keyword, value]) => [keyword, this.#copyKeyword(keyword, value)]),
    );
    const matched = this.#limitTexts(pattern, format);
    if (matched !== undefined) {
      const { allOf } = copied;
      copied["allOf"] = [...(Array.isArray(allOf) ? allOf : []), matched];
    }
    return this.#count(copied);
  }

  #copyKeyword(keyword: string, value: JsonValue): JsonValue {
    if (literals.has(keyword)) return value;
    if (!schemaMaps.has(keyword) || !isObject(value)) return this.copy(value);
    if (keyword === "patternProperties") Object.keys(value).forEach(assertPattern);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.copy(each)]));
  }

  /** Compares only texts of limited length with a pattern and a format; a longer one does not fit. */
  #limitTexts(pattern: JsonValue | undefined, format: JsonValue | undefined): JsonObject | undefined {
    if (pattern === undefined && format === undefined) return undefined;
    if (typeof pattern === "string") assertPattern(pattern);
    const compared: JsonObject = {
      ...(pattern === undefined ? {} : { pattern }),
      // The validator's own `url`, which is no format of JSON Schema, is a regular expression of exponential time.
      ...(format === undefined ? {} : { format: format === "url" ? "uri" : format }),
    };
    const isShort: JsonObject = { maxLength: maxMatchedLength };
    return this.#count({
      if: this.#count({ ...isShort }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: this.#count(compared),
      else: this.#count({ ...isShort }),
    });
  }

  #count(schema: JsonObject): JsonObject {
    const spend = this.#spend;
    const steps = schemaSteps + countEntries(schema) / entriesInAStep;
    const name = "$recursiveRef"; // which it reads first, once for each value, and 2020-12 has no such keyword
    return Object.defineProperty(schema, name, { enumerable: false, get: () => void spend(steps) });
  }
}

function assertPattern(pattern: string): void {
  new RegExp(pattern, "u");
}

function countEntries(schema: JsonObject): number {
  return Object.values(schema).reduce<number>(
    (sum, value) =>
      sum + (Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0),
    0,
  );
}

/** Data that counts each value that is read of it, and a long name as what a pattern may take for it. */
function countReads(data: JsonValue, spend: (steps: number) => void): JsonValue {
  const counting = new WeakMap<object, object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const known = counting.get(value) ?? new Proxy(value, handler);
    counting.set(value, known);
    return known;
  };
  const handler: ProxyHandler<object> = {
    get(target, name) {
      spend(1);
      return wrap(Reflect.get(target, name));
    },
    ownKeys(target) {
      const names = Reflect.ownKeys(target);
      for (const { length } of names.map(String)) spend(1 + length ** 2 / maxMatchedLength);
      return names;
    },
  };
  return wrap(data) as JsonValue; // of the same form
}
