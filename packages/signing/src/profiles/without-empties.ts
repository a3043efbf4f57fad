import { formatFieldPath } from "@a2a-connect/core";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { setMember } from "../canonical/set-member.ts";

/**
 * JSON without whatever is empty: `null`, `""`, `[]`, `{}`, and what is empty once that is gone, everywhere, inside Structs,
 * too.
 *
 * @param onDropped told the path of each value that is left out, once for the outermost
 */
export function withoutEmpties(json: JsonObject, onDropped: (path: string) => void): JsonObject {
  const dropped: (readonly (string | number)[])[] = [];
  const kept = cleanMembers(json, [], dropped);
  for (const path of dropped) {
    onDropped(formatFieldPath(path));
  }
  return isEmpty(kept) ? {} : kept;
}

const nothing: unique symbol = Symbol("nothing is left");

function isEmpty<Kept>(value: Kept | typeof nothing): value is typeof nothing {
  return value === nothing;
}

function clean(
  json: JsonValue,
  path: readonly (string | number)[],
  dropped: (readonly (string | number)[])[],
): JsonValue | typeof nothing {
  if (json === null || json === "") {
    return nothing;
  }
  if (typeof json !== "object") {
    return json;
  }
  // What is dropped further down is not told when all of this is.
  const below: (readonly (string | number)[])[] = [];
  const kept = Array.isArray(json) ? cleanElements(json, path, below) : cleanMembers(json, path, below);
  if (kept === nothing) {
    return nothing;
  }
  dropped.push(...below);
  return kept;
}

function cleanElements(
  elements: readonly JsonValue[],
  path: readonly (string | number)[],
  dropped: (readonly (string | number)[])[],
): JsonValue[] | typeof nothing {
  const kept: JsonValue[] = [];
  for (const [index, element] of elements.entries()) {
    const value = clean(element, [...path, index], dropped);
    if (isEmpty(value)) {
      dropped.push([...path, index]);
    } else {
      kept.push(value);
    }
  }
  return kept.length === 0 ? nothing : kept;
}

function cleanMembers(
  object: JsonObject,
  path: readonly (string | number)[],
  dropped: (readonly (string | number)[])[],
): JsonObject | typeof nothing {
  const kept: JsonObject = {};
  let size = 0;
  for (const [name, member] of Object.entries(object)) {
    const value = clean(member, [...path, name], dropped);
    if (isEmpty(value)) {
      dropped.push([...path, name]);
    } else {
      setMember(kept, name, value);
      size += 1;
    }
  }
  return size === 0 ? nothing : kept;
}
