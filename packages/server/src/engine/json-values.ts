import type { Part } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { AgentMistake } from "./agent-mistake.ts";

/**
 * Refuses values that protobuf can hold and JSON cannot, so that the JSON wires can show every stored event.
 *
 * @throws AgentMistake with the path of a number that is NaN or infinite
 */
export function assertJsonParts(parts: readonly Part[], what: string): void {
  for (const { content, metadata } of parts) {
    if (content.case === "data" && !isJsonMessage(content.value)) {
      throw notJson(what);
    }
    assertJsonMetadata(metadata, what);
  }
}

/** The same for metadata, and for a status's report. */
export function assertJsonMetadata(metadata: object | undefined, what: string): void {
  if (metadata !== undefined && !isJson(metadata as JsonValue)) {
    throw notJson(what);
  }
}

function notJson(what: string): AgentMistake {
  return new AgentMistake(`${what} has a number that JSON cannot hold: NaN or infinite`);
}

function isJsonMessage({ kind }: Value): boolean {
  switch (kind.case) {
    case "numberValue":
      return Number.isFinite(kind.value);
    case "structValue":
      return isEachJson(kind.value.fields);
    case "listValue":
      return kind.value.values.every(isJsonMessage);
    default:
      return kind.case !== undefined;
  }
}

/** There may be very many keys, so no list of them is made. */
function isEachJson(fields: Readonly<Record<string, Value>>): boolean {
  for (const key in fields) {
    if (!isJsonMessage(fields[key] as Value)) return false; // a member of a plain object
  }
  return true;
}

function isJson(value: JsonValue): boolean {
  if (typeof value === "number") {
    return Number.isFinite(value);
  }
  if (typeof value !== "object" || value === null) {
    return true;
  }
  return (Array.isArray(value) ? value : Object.values(value)).every(isJson);
}
