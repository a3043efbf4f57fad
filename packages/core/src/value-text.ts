import type { JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { assertJson, openValue } from "./json-value.ts";
import { divideText } from "./long-text.ts";

/** An object or array that is being formatted. */
interface Open<Element> {
  /** The names of an object's members; undefined for an array. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  /** The members by name, or the elements by index. */
  readonly inside: readonly Element[] | Readonly<Record<string, Element>>;
  /** How many members or elements are formatted. */
  done: number;
}

/** An element in JSON: its text, the pieces of a long string, or its inner elements. */
type Seen<Element> = string | Generator<string, void> | Open<Element>;

/**
 * The JSON text of a Value in pieces of about `pieceLength` characters, long strings included. No JSON of the Value is
 * built on the way, which would cost as much again.
 *
 * @throws Error for values that JSON cannot hold
 */
export function formatValueInPieces(value: Value, pieceLength: number): Generator<string, void> {
  return write(value, lookAtValue, pieceLength);
}

/** The same for JSON, such as the contents of a Struct field. */
export function formatJsonInPieces(json: JsonValue, pieceLength: number): Generator<string, void> {
  return write<JsonValue>(json, lookAt, pieceLength);
}

/** The same for a string. Escapes can make a piece of the text six times as long. */
export function* formatStringInPieces(value: string, pieceLength: number): Generator<string, void> {
  yield '"';
  for (const slice of divideText(value, pieceLength)) {
    yield JSON.stringify(slice).slice(1, -1);
  }
  yield '"';
}

function formatString(value: string, pieceLength: number): string | Generator<string, void> {
  return value.length > pieceLength ? formatStringInPieces(value, pieceLength) : JSON.stringify(value);
}

/** @param look returns an element in JSON; `length` divides its strings */
function* write<Element>(
  root: Element,
  look: (element: Element, pieceLength: number) => Seen<Element>,
  pieceLength: number,
): Generator<string, void> {
  const open: Open<Element>[] = [];
  let text = "";
  for (let next = root; ; ) {
    const seen = look(next, pieceLength);
    if (typeof seen === "string") {
      text += seen;
    } else if ("inside" in seen) {
      text += seen.names === undefined ? "[" : "{";
      open.push(seen);
    } else {
      yield text;
      yield* seen;
      text = "";
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
    if (name !== undefined) {
      const named = formatString(name, pieceLength);
      if (typeof named === "string") {
        text += `${named}:`;
      } else {
        yield text;
        yield* named;
        text = ":";
      }
    }
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

function lookAtValue(value: Value, pieceLength: number): Seen<Value> {
  return lookAt<Value>(openValue(value), pieceLength);
}

function lookAt<Element>(json: unknown, pieceLength: number): Seen<Element> {
  if (typeof json !== "object" || json === null) {
    return formatLeaf(json as string | number | boolean | null, pieceLength); // JSON has no others
  }
  const inside = json as Open<Element>["inside"]; // by its type
  if (Array.isArray(inside)) {
    return { names: undefined, inside, length: inside.length, done: 0 };
  }
  const names = Object.keys(inside);
  return { names, inside, length: names.length, done: 0 };
}

function formatLeaf(
  json: string | number | boolean | null,
  pieceLength: number,
): string | Generator<string, void> {
  return typeof json === "string" ? formatString(json, pieceLength) : String(assertJson(json));
}
