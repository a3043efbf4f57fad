import type { JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { assertJson } from "./json-value.ts";

/** An object or array that is being written. */
interface Open<Element> {
  /** The names of an object's members; undefined for an array. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  /** The members by name, or the elements by index. */
  readonly inside: readonly Element[] | Readonly<Record<string, Element>>;
  /** How many of them are written. */
  done: number;
}

/**
 * The JSON text of a Value in pieces of about `pieceLength` characters; one string is never divided. No JSON is built of the
 * Value on the way, which would cost as much again.
 *
 * @throws Error for what JSON cannot hold
 */
export function formatValueInPieces(value: Value, pieceLength: number): Generator<string, void> {
  return write(value, lookAtValue, pieceLength);
}

/** The same for JSON, such as the contents of a Struct field. */
export function formatJsonInPieces(json: JsonValue, pieceLength: number): Generator<string, void> {
  return write(json, lookAtJson, pieceLength);
}

/** @param lookAt the text of an element, or what it has inside */
function* write<Element>(
  root: Element,
  lookAt: (element: Element) => string | Open<Element>,
  pieceLength: number,
): Generator<string, void> {
  const open: Open<Element>[] = [];
  let text = "";
  for (let next = root; ; ) {
    const seen = lookAt(next);
    if (typeof seen === "string") {
      text += seen;
    } else {
      text += seen.names === undefined ? "[" : "{";
      open.push(seen);
    }
    let inner = open.at(-1);
    while (inner !== undefined && inner.done === inner.length) {
      text += inner.names === undefined ? "]" : "}";
      open.pop();
      inner = open.at(-1);
    }
    if (inner === undefined) {
      break;
    }
    const name = inner.names?.[inner.done];
    text += inner.done === 0 ? "" : ",";
    text += name === undefined ? "" : `${JSON.stringify(name)}:`;
    const inside = inner.inside as Readonly<Record<string | number, Element>>; // by name or by index
    next = inside[name ?? inner.done] as Element; // it has as many as its length says
    inner.done += 1;
    if (text.length >= pieceLength) {
      yield text;
      text = "";
    }
  }
  yield text;
}

function lookAtValue({ kind }: Value): string | Open<Value> {
  switch (kind.case) {
    case "structValue": {
      const { fields } = kind.value;
      const names = Object.keys(fields);
      return { names, inside: fields, length: names.length, done: 0 };
    }
    case "listValue": {
      const { values } = kind.value;
      return { names: undefined, inside: values, length: values.length, done: 0 };
    }
    case "nullValue":
      return "null";
    case undefined:
      throw new Error("google.protobuf.Value must have a value");
    default:
      return formatLeaf(kind.value);
  }
}

function lookAtJson(json: JsonValue): string | Open<JsonValue> {
  if (Array.isArray(json)) {
    return { names: undefined, inside: json, length: json.length, done: 0 };
  }
  if (typeof json === "object" && json !== null) {
    const names = Object.keys(json);
    return { names, inside: json, length: names.length, done: 0 };
  }
  return formatLeaf(json);
}

function formatLeaf(json: string | number | boolean | null): string {
  return typeof json === "string" ? JSON.stringify(json) : String(assertJson(json));
}
