import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { setMember } from "../canonical/json-members.ts";
import type { FieldPath } from "./field-path.ts";

/**
 * JSON without whatever is empty: `null`, `""`, `[]`, `{}`, and what is empty once that is gone, everywhere, inside Structs,
 * too.
 *
 * @param onDropped told the path of each value that is left out, once for the outermost
 */
export function withoutEmpties(json: JsonObject, onDropped: (path: FieldPath) => void): JsonObject {
  const dropped: Place[] = [];
  const kept = cleanMembers(json, undefined, dropped);
  for (const place of dropped) {
    onDropped(pathOf(place));
  }
  return isEmpty(kept) ? {} : kept;
}

const nothing: unique symbol = Symbol("nothing is left");

function isEmpty<Kept>(value: Kept | typeof nothing): value is typeof nothing {
  return value === nothing;
}

/** Where a value stands; undefined is the root. Linked, for a deep card has a hundred thousand of them. */
interface Place {
  readonly above: Place | undefined;
  readonly segment: string | number;
}

function pathOf(place: Place): FieldPath {
  const path: (string | number)[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.above) path.push(at.segment);
  return path.reverse();
}

function clean(json: JsonValue, place: Place, dropped: Place[]): JsonValue | typeof nothing {
  if (json === null || json === "") {
    return nothing;
  }
  if (typeof json !== "object") {
    return json;
  }
  const before = dropped.length;
  const kept = Array.isArray(json) ? cleanElements(json, place, dropped) : cleanMembers(json, place, dropped);
  // What is dropped further down is not told when all of this is.
  if (isEmpty(kept)) dropped.length = before;
  return kept;
}

function cleanElements(
  elements: readonly JsonValue[],
  above: Place,
  dropped: Place[],
): JsonValue[] | typeof nothing {
  const kept: JsonValue[] = [];
  for (const [index, element] of elements.entries()) {
    const place = { above, segment: index };
    const value = clean(element, place, dropped);
    if (isEmpty(value)) {
      dropped.push(place);
    } else {
      kept.push(value);
    }
  }
  return kept.length === 0 ? nothing : kept;
}

function cleanMembers(
  object: JsonObject,
  above: Place | undefined,
  dropped: Place[],
): JsonObject | typeof nothing {
  const kept: JsonObject = {};
  let size = 0;
  for (const [name, member] of Object.entries(object)) {
    const place = { above, segment: name };
    const value = clean(member, place, dropped);
    if (isEmpty(value)) {
      dropped.push(place);
    } else {
      setMember(kept, name, value);
      size += 1;
    }
  }
  return size === 0 ? nothing : kept;
}
