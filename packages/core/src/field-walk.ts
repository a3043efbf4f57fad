import type { FieldViolation } from "./errors.ts";
import { escapeInvisible } from "./visible-text.ts";

/**
 * The position of a walk over a message, and what it has found so far. The JSON parser and the required-field check
 * share it, so that they name fields alike and obey the same limits.
 */
export interface FieldWalk {
  /** Field JSON names, list indexes and map keys from the root to the current value. */
  readonly path: (string | number)[];
  /** Path of the root itself, empty for a whole request. */
  readonly prefix: string;
  readonly violations: FieldViolation[];
  /** How deep JSON objects and arrays may be nested; the message itself is the first level. */
  readonly maxDepth: number;
  /** Whether what a newer sender may write is ignored: unknown names of enums, and limits on unknown fields. */
  readonly isLenient: boolean;
}

/** Default depth of nested JSON objects and arrays, counting the message itself (design: JSON depth 100). */
export const defaultMaxDepth = 100;

/**
 * The sentence for a request with more than `maxValues` values. Each object, array, string, number, true, false and
 * null counts one, and each member name counts one more, a very long one many (`longNameWeight`).
 */
export function tooManyValues(maxValues: number, field = ""): FieldViolation {
  return {
    field,
    description: `has more than ${maxValues} values, counting each member name as one, and one of more than 16,383 characters as 262,144`,
  };
}

/** Violations reported for one message: more tell a caller nothing, and gRPC clients accept only 8 KiB of trailers. */
const maxViolations = 10;
/** Longest path in a violation, in UTF-16 units; a longer one ends in an ellipsis. */
const maxPathLength = 120;
/** Longest key of the caller that an error repeats, in UTF-16 units. */
const maxKeyLength = 40;

/** Start a walk at a message whose own path is `prefix`. */
export function startWalk(
  prefix = "",
  maxDepth: number = defaultMaxDepth,
  isLenient: boolean = false,
): FieldWalk {
  return { path: [], prefix, violations: [], maxDepth, isLenient };
}

/** Note that the value at the current path is wrong. */
export function report(walk: FieldWalk, description: string): void {
  if (walk.violations.length < maxViolations) {
    walk.violations.push({ field: formatFieldPath(walk.path, walk.prefix), description });
  }
}

/** Whether as many violations were found as are reported. Then the walk may stop. */
export function isFull(walk: FieldWalk): boolean {
  return walk.violations.length >= maxViolations;
}

/** Note that the member `key` of the value at the current path is wrong. */
export function reportAt(walk: FieldWalk, key: string | number, description: string): void {
  walk.path.push(key);
  report(walk, description);
  walk.path.pop();
}

/** A path as errors name it, cut off where it gets long: `message.parts[0].text` (requirement E-3). */
export function formatFieldPath(segments: readonly (string | number)[], prefix = ""): string {
  let path = prefix;
  for (const segment of segments) {
    path += formatSegment(segment, path === "");
    if (path.length > maxPathLength) {
      return `${path.slice(0, maxPathLength)}…`;
    }
  }
  return path;
}

function formatSegment(segment: string | number, first: boolean): string {
  if (typeof segment === "number") {
    return `[${segment}]`;
  }
  if (/^\w{1,64}$/.test(segment)) {
    return first ? segment : `.${segment}`;
  }
  // A key that the caller chose: quoted, so that it cannot look like one of our paths; shortened; and without
  // characters that control a terminal.
  const key = segment.length > maxKeyLength ? `${segment.slice(0, maxKeyLength)}…` : segment;
  return `[${escapeInvisible(JSON.stringify(key.toWellFormed()))}]`;
}
