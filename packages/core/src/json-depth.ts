import type { JsonObject } from "@bufbuild/protobuf";
import { type FieldWalk, isFull, report, reportAt } from "./field-walk.ts";

/**
 * Check JSON that is the caller's own (Struct, Value and unknown fields): nested no deeper than the limit, no
 * `__proto__` key, valid Unicode, finite numbers. Nothing else is our business there (requirement H-13).
 *
 * The walk stops at the limit, so its recursion is bounded by `walk.maxDepth` and never by the input.
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

/** Whether an object or array at `depth` is within the limit; reports it when it is not. */
export function enterContainer(walk: FieldWalk, depth: number): boolean {
  if (depth <= walk.maxDepth) {
    return true;
  }
  report(walk, `is nested deeper than ${walk.maxDepth} levels`);
  return false;
}

/**
 * Whether a key may be used. `__proto__` is refused although JSON.parse makes it an ordinary member: one careless
 * assignment later in somebody's agent would make it a prototype.
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

/** Report a lone surrogate: protobuf strings are UTF-8, which has no way to carry one. */
export function checkUnicode(walk: FieldWalk, text: string): void {
  if (!text.isWellFormed()) {
    report(walk, "must be valid Unicode");
  }
}
