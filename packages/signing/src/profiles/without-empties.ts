import { toTable } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Names and indexes from the root of a card to a value in it. */
export type FieldPath = readonly (string | number)[];

/**
 * JSON without everything empty: `null`, `""`, `[]`, `{}`, and what is empty once that is gone. Inside Structs, too.
 *
 * @param onDropped told the path of each value that is left out, once for the outermost; the path is not to be kept
 */
export function withoutEmpties(json: JsonObject, onDropped: (path: FieldPath) => void): JsonObject {
  const full = new Set<JsonValue>();
  findFull(json, full);
  return copyFull(json, { full, onDropped, path: [] }) as JsonObject; // an object stays one
}

/** Collects the lists and objects in which something is left, and says whether this value is one, or a scalar that says something. */
function findFull(json: JsonValue, full: Set<JsonValue>): boolean {
  if (typeof json !== "object" || json === null) return json !== null && json !== "";
  for (const value of Object.values(json)) {
    if (findFull(value, full)) full.add(json);
  }
  return full.has(json);
}

interface Copying {
  readonly full: ReadonlySet<JsonValue>;
  readonly onDropped: (path: FieldPath) => void;
  readonly path: (string | number)[];
}

function copyFull(json: JsonValue, copying: Copying): JsonValue {
  if (typeof json !== "object" || json === null) return json;
  const { full, onDropped, path } = copying;
  const isList = Array.isArray(json);
  const copied: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(json)) {
    path.push(isList ? Number(name) : name);
    const isEmpty = typeof value === "object" ? !full.has(value) : value === "";
    if (isEmpty) onDropped(path);
    else copied.push([name, copyFull(value, copying)]);
    path.pop();
  }
  return isList ? copied.map(([, value]) => value) : toTable(copied);
}
