import type { JsonObject } from "@bufbuild/protobuf";
import { type FieldWalk, isFull, report, reportAt } from "./field-walk.ts";

/**
 * Checks JSON of the caller's own (Struct, Value and unknown fields): not nested deeper than the limit, no `__proto__`
 * key, valid Unicode, finite numbers. Everything else in it is allowed (requirement H-13).
 *
 * The walk stops at the limit, so `walk.maxDepth` bounds its recursion, never the input.
 *
 * @param depth nesting level that `value` has if it is an object or array; the message itself is 1
 */
export function checkJson(walk: FieldWalk, value: unknown, depth: number): void {
  switch (typeof value) {
    case "string":
      checkUnicode(walk, value);
      return;
    case "number":
      if (!Number.isFinite(value)) {
        report(walk, "must be a finite number");
      }
      return;
    case "boolean":
      return;
    case "object":
      if (value !== null && enterContainer(walk, depth)) {
        checkContainer(walk, value, depth);
      }
      return;
    default:
      report(walk, "is not a JSON value");
  }
}

function checkContainer(walk: FieldWalk, value: object, depth: number): void {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && !isFull(walk); index++) {
      walk.path.push(index);
      checkJson(walk, value[index], depth + 1);
      walk.path.pop();
    }
    return;
  }
  for (const key of Object.keys(value)) {
    if (checkKey(walk, key)) {
      walk.path.push(key);
      checkJson(walk, (value as JsonObject)[key], depth + 1); // a key of its own
      walk.path.pop();
    }
    if (isFull(walk)) {
      return;
    }
  }
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
 * code would later make it a prototype. So it is refused.
 */
export function checkKey(walk: FieldWalk, key: string): boolean {
  if (key === "__proto__") {
    reportAt(walk, key, "this key is not allowed");
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
