import { isRequiredField } from "@a2a-connect/core/internal";
import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** What a card's JSON lacks, and what it has that no card has; both by path, such as `skills[0].tags`. */
export interface CardWalk {
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

/** Paths of each kind that are told. */
const maxPaths = 20;

/** Deepest message: cards are not recursive, so this only bounds the walk. */
const maxDepth = 20;

/** Compares JSON with its message's descriptor. Types are looked at by `parseMessage`; here it is only about names. */
export function walkCard(desc: DescMessage, json: unknown): CardWalk {
  const walk = { missing: [], unknown: [] };
  walkMessage(walk, desc, json, "", 0);
  return walk;
}

interface Walk {
  readonly missing: string[];
  readonly unknown: string[];
}

function walkMessage(walk: Walk, desc: DescMessage, json: unknown, path: string, depth: number): void {
  if (!isObject(json) || desc.typeName.startsWith("google.protobuf.") || depth > maxDepth) return;
  const fields = new Map<string, DescField>();
  for (const field of desc.fields) fields.set(field.name, field).set(field.jsonName, field);
  for (const key of Object.keys(json)) {
    const field = fields.get(key);
    if (field === undefined) note(walk.unknown, join(path, key));
    else walkField(walk, field, json[key], join(path, key), depth + 1);
  }
  for (const field of desc.fields) {
    const value = json[field.jsonName] ?? json[field.name];
    if (isRequiredField(field) && (value === undefined || value === null || value === "")) {
      note(walk.missing, join(path, field.jsonName));
    }
  }
}

function walkField(walk: Walk, field: DescField, json: unknown, path: string, depth: number): void {
  const { message } = field;
  if (message === undefined) return;
  if (field.fieldKind === "list" && Array.isArray(json)) {
    for (const [index, element] of json.entries())
      walkMessage(walk, message, element, `${path}[${index}]`, depth);
  } else if (field.fieldKind === "map" && isObject(json)) {
    for (const [key, element] of Object.entries(json))
      walkMessage(walk, message, element, join(path, key), depth);
  } else if (field.fieldKind === "message") {
    walkMessage(walk, message, json, path, depth);
  }
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function note(paths: string[], path: string): void {
  if (paths.length < maxPaths) paths.push(path.slice(0, 120));
}
