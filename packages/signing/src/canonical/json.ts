import { defaultMaxDepth, isObject, scanJson } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Why a text has no one meaning as JSON: the rest of a sentence about it, without a full stop. */
export interface JsonFault {
  readonly fault: "not-json" | "too-deep" | "duplicate-member";
  readonly problem: string;
  /** The member that is there twice. */
  readonly path?: string;
  readonly json?: undefined;
}

/** What a text is as JSON, when all readers read the same in it: no name twice in an object, and not nested too deep. */
export function readStrictJson(
  text: string,
): { readonly json: JsonValue; readonly fault?: undefined } | JsonFault {
  const defect = scanJson(text, { maxDepth: defaultMaxDepth, duplicates: "everywhere" });
  if (defect?.kind === "too-deep") {
    return { fault: "too-deep", problem: `is nested deeper than ${defaultMaxDepth} levels` };
  }
  let json: JsonValue;
  try {
    json = JSON.parse(text);
  } catch {
    return { fault: "not-json", problem: "is not JSON" };
  }
  // After parsing: of what is no JSON at all, a name that is there twice is not the news.
  if (defect?.kind !== "duplicate-member") return { json };
  const { path } = defect;
  return { fault: "duplicate-member", problem: `has the member ${path} twice`, path };
}

/** The object that a value should be; an empty one when it is none. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The list that a value should be; an empty one when it is none. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The text that a value should be; an empty one when it is none. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
