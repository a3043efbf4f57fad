import type { Value } from "@bufbuild/protobuf/wkt";
import { divideText } from "../long-text.ts";
import { assertJson, openValue } from "./json-value.ts";

/** JSON of which some lists are made when they are read. */
export type LazyJson = string | number | boolean | null | LazyJson[] | LazyObject | LazyList;

/** An object of such JSON. */
export interface LazyObject {
  [name: string]: LazyJson;
}

/** A list in JSON whose elements are made one by one, each time they are read, and not kept. */
export class LazyList {
  readonly length: number;
  readonly #make: (index: number) => LazyJson;

  constructor(length: number, make: (index: number) => LazyJson) {
    this.length = length;
    this.#make = make;
  }

  at(index: number): LazyJson {
    return this.#make(index);
  }

  map(convert: (element: LazyJson) => LazyJson): LazyList {
    return new LazyList(this.length, (index) => convert(this.#make(index)));
  }

  /** All elements at once, for `JSON.stringify`. */
  toJSON(): LazyJson[] {
    return Array.from({ length: this.length }, (_, index) => this.#make(index));
  }
}

/** An object or array that is being formatted. */
interface Open<Element> {
  /** The names of an object's members; undefined for an array. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  /** The members by name, or the elements by index. */
  readonly inside: readonly Element[] | Readonly<Record<string, Element>> | LazyList;
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

/** The same for JSON, such as the contents of a Struct field. Elements of its lazy lists are made with their piece. */
export function formatJsonInPieces(json: LazyJson, pieceLength: number): Generator<string, void> {
  return write<LazyJson>(json, lookAt, pieceLength);
}

/** The same for a string. Escapes can make a piece of the text six times as long. */
export function* formatStringInPieces(value: string, pieceLength: number): Generator<string, void> {
  yield '"';
  for (const slice of divideText(value, pieceLength)) {
    yield isPlain(slice) ? slice : JSON.stringify(slice).slice(1, -1);
  }
  yield '"';
}

/**
 * Whether JSON has a text as it is, between quotes. For a long text this takes half the time of `JSON.stringify`, and makes no copy for
 * a garbage collector.
 */
function isPlain(text: string): boolean {
  return !text.includes('"') && !text.includes("\\") && !controlCharacter.test(text) && text.isWellFormed();
}

const controlCharacter = /[^\u0020-\uffff]/;

/** The same; in pieces only where it is longer than one. */
export function formatString(value: string, pieceLength: number): string | Generator<string, void> {
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
    next = elementOf(inner.inside, name ?? inner.done);
    inner.done += 1;
    if (text.length >= pieceLength) {
      yield text;
      text = "";
    }
  }
  yield text;
}

function elementOf<Element>(inside: Open<Element>["inside"], key: string | number): Element {
  const element =
    inside instanceof LazyList
      ? inside.at(key as number) // it has no names
      : (inside as Readonly<Record<string | number, Element>>)[key]; // by name or by index
  return element as Element; // it has as many as its length says
}

function lookAtValue(value: Value, pieceLength: number): Seen<Value> {
  return lookAt<Value>(openValue(value), pieceLength);
}

function lookAt<Element>(json: unknown, pieceLength: number): Seen<Element> {
  if (typeof json !== "object" || json === null) {
    return formatLeaf(json as string | number | boolean | null, pieceLength); // JSON has no others
  }
  const inside = json as Open<Element>["inside"]; // by its type
  if (Array.isArray(inside) || inside instanceof LazyList) {
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
