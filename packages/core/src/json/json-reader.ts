import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { createTable, longNameWeight, setMember } from "./json-value.ts";
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  findStringEnd,
  openBrace,
  openBracket,
  quote,
} from "./scan-json.ts";

/** The limits on a JSON text. */
export interface JsonLimits {
  /** How deep objects and arrays may be nested. */
  readonly maxDepth: number;
  /**
   * How many values the whole text may have: objects, arrays, strings, numbers, true, false and null; each member name
   * counts, too, and a long one by its length.
   */
  readonly maxValues: number;
}

/** Why a {@link JsonReader} stopped. */
export type JsonFault =
  | { readonly kind: "malformed" | "too-deep" | "duplicate-member" }
  /** `path` leads to the value that exceeded the limit: member names and indexes. */
  | { readonly kind: "too-many-values"; readonly path: readonly (string | number)[] };

/**
 * Parses a JSON text, in as many steps as the caller wants, and counts what it builds.
 *
 * It accepts what `JSON.parse` accepts, within its limits, and builds the same values; its objects are tables
 * (`createTable`). It refuses a name that occurs twice in the outermost object. `JSON.parse` silently keeps the last
 * one, but a proxy that read the first one saw another text.
 */
export class JsonReader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  #at = 0;
  #expected: Expected = "value";
  /** The open objects and arrays, outermost first. */
  readonly #open: Container[] = [];
  /** For each open object the member that is being read; unused for arrays. */
  readonly #names: string[] = [];
  /** The innermost open object or array. */
  #container: Container | undefined;
  /** The long string with escapes that is being read in pieces: what there is of it, and where it ends. */
  #long: { text: string; readonly end: number } | undefined;
  #values = 0;
  #result: JsonValue | undefined;
  #fault: JsonFault | undefined;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  /** What is wrong with the text, after `read` has returned true. */
  get fault(): JsonFault | undefined {
    return this.#fault;
  }

  /** The value of the text, after `read` has returned true without a fault. */
  get result(): JsonValue | undefined {
    return this.#result;
  }

  /**
   * Reads on, about so many characters. It divides no number, and of strings only those of more than a million characters that have
   * escapes: without them, to copy the pieces would take longer than to parse the whole.
   *
   * @returns whether the reader is done: at the end, or at a fault
   */
  read(characters: number): boolean {
    const text = this.#text;
    const until = Math.min(this.#at + characters, text.length);
    while (this.#at < until) {
      if (this.#long !== undefined) {
        if (!this.#readPiece(this.#long)) return true;
        continue;
      }
      const at = skipWhitespace(text, this.#at, until);
      this.#at = at;
      if (at < until && !this.#step(text.charCodeAt(at))) {
        return true;
      }
    }
    if (until < text.length) {
      return false;
    }
    if (this.#expected !== "end") {
      this.#refuse("malformed");
    }
    return true;
  }

  /** Reads one token, which begins with this character; false when it has a fault. */
  #step(character: number): boolean {
    switch (this.#expected) {
      case "value":
        return this.#readValue(character);
      case "value or ]":
        return character === closeBracket ? this.#close() : this.#readValue(character);
      case "name":
        return character === quote ? this.#readName() : this.#refuse("malformed");
      case "name or }":
        if (character === closeBrace) {
          return this.#close();
        }
        return character === quote ? this.#readName() : this.#refuse("malformed");
      case ":":
        this.#expected = "value";
        return character === colon ? this.#advance() : this.#refuse("malformed");
      case ", or ]":
        this.#expected = "value";
        return character === comma ? this.#advance() : this.#closeOr(character, closeBracket);
      case ", or }":
        this.#expected = "name";
        return character === comma ? this.#advance() : this.#closeOr(character, closeBrace);
      case "end":
        return this.#refuse("malformed");
    }
  }

  #readValue(character: number): boolean {
    if (!this.#count(this.#open.length)) {
      return false;
    }
    switch (character) {
      case openBrace:
        return this.#openContainer(createTable<JsonValue>(), "name or }");
      case openBracket:
        return this.#openContainer([], "value or ]");
      case quote:
        return this.#readText();
      case letterT:
        return this.#readLiteral("true", true);
      case letterF:
        return this.#readLiteral("false", false);
      case letterN:
        return this.#readLiteral("null", null);
      default: {
        const number = this.#readNumber();
        return number !== undefined && this.#put(number);
      }
    }
  }

  #readName(): boolean {
    const levels = this.#open.length - 1;
    const end = findStringEnd(this.#text, this.#at + 1);
    const least = longNameWeight((end - this.#at) / escapeLength); // before it is parsed, which may take long
    const name = this.#count(levels, 1 + least) ? this.#readString(longestName, end) : undefined;
    if (name === undefined || !this.#count(levels, longNameWeight(name.length) - least)) {
      return false;
    }
    if (this.#open.length === 1 && this.#container !== undefined && Object.hasOwn(this.#container, name)) {
      return this.#refuse("duplicate-member");
    }
    this.#names[levels] = name;
    this.#expected = ":";
    return true;
  }

  #openContainer(container: Container, expected: Expected): boolean {
    if (this.#open.length === this.#limits.maxDepth) {
      return this.#refuse("too-deep");
    }
    this.#put(container);
    this.#open.push(container);
    this.#container = container;
    this.#expected = expected;
    return this.#advance();
  }

  #closeOr(character: number, closing: number): boolean {
    return character === closing ? this.#close() : this.#refuse("malformed");
  }

  #close(): boolean {
    this.#open.pop();
    this.#container = this.#open.at(-1);
    this.#expectMore();
    return this.#advance();
  }

  /** Puts a value into the innermost open object or array. */
  #put(value: JsonValue): boolean {
    const container = this.#container;
    if (container === undefined) {
      this.#result = value;
    } else if (Array.isArray(container)) {
      container.push(value);
    } else {
      setMember(container, this.#names[this.#open.length - 1] ?? "", value);
    }
    this.#expectMore();
    return true;
  }

  #expectMore(): void {
    const container = this.#container;
    this.#expected = container === undefined ? "end" : Array.isArray(container) ? ", or ]" : ", or }";
  }

  #readLiteral(literal: string, value: boolean | null): boolean {
    if (!this.#text.startsWith(literal, this.#at)) {
      return this.#refuse("malformed");
    }
    this.#at += literal.length;
    return this.#put(value);
  }

  #readText(): boolean {
    const end = findStringEnd(this.#text, this.#at + 1);
    const isLong = end - this.#at > pieceLength && end < this.#text.length;
    if (isLong && this.#text.slice(this.#at, end).includes("\\")) {
      this.#long = { text: "", end };
      return this.#advance();
    }
    const string = this.#readString(longestCopied, end);
    return string !== undefined && this.#put(string);
  }

  #readPiece(long: { text: string; readonly end: number }): boolean {
    const to = Math.min(divideString(this.#text, this.#at, this.#at + pieceLength), long.end);
    const piece = this.#parseString(`"${this.#text.slice(this.#at, to)}"`);
    if (piece === undefined) return false;
    long.text += piece;
    this.#at = to;
    if (to < long.end) return true;
    this.#long = undefined;
    return this.#put(long.text) && this.#advance();
  }

  /** A string of up to `maxSlice` characters may be a slice of the text. */
  #readString(maxSlice: number, end: number): string | undefined {
    const start = this.#at;
    this.#at = end + 1;
    if (end === this.#text.length) {
      this.#refuse("malformed");
      return undefined;
    }
    if (end - start <= maxSlice && isPlain(this.#text, start + 1, end)) {
      return this.#text.slice(start + 1, end);
    }
    return this.#parseString(this.#text.slice(start, end + 1));
  }

  #parseString(quoted: string): string | undefined {
    try {
      return String(JSON.parse(quoted));
    } catch {
      this.#refuse("malformed");
      return undefined;
    }
  }

  #readNumber(): number | undefined {
    const start = this.#at;
    const end = findNumberEnd(this.#text, start);
    if (end === undefined) {
      this.#refuse("malformed");
      return undefined;
    }
    this.#at = end;
    return Number(this.#text.slice(start, end));
  }

  /** Counts a value or a name at the depth of `levels` members and indexes. */
  #count(levels: number, values = 1): boolean {
    this.#values += values;
    if (this.#values <= this.#limits.maxValues) {
      return true;
    }
    this.#fault = { kind: "too-many-values", path: this.#path(levels) };
    return false;
  }

  #path(levels: number): (string | number)[] {
    const innermost = this.#open.length - 1;
    return this.#open.slice(0, levels).map((container, level) => {
      if (Array.isArray(container)) {
        return level === innermost ? container.length : container.length - 1;
      }
      return this.#names[level] ?? "";
    });
  }

  #advance(): boolean {
    this.#at += 1;
    return true;
  }

  #refuse(kind: "malformed" | "too-deep" | "duplicate-member"): false {
    this.#fault = { kind };
    return false;
  }
}

type Container = JsonObject | JsonValue[];

type Expected = "value" | "value or ]" | "name" | "name or }" | ":" | ", or ]" | ", or }" | "end";

const letterT = 0x74;
const letterF = 0x66;
const letterN = 0x6e;

/** Longest name that is read character by character. */
const longestName = 64;

/**
 * Longest value that is taken as a slice of the text. V8 keeps the whole text in memory as long as a longer slice of it
 * lives. Names are copied when they become names.
 */
const longestCopied = 12;

/** Longest string with escapes that is parsed at once, in characters: that takes up to two milliseconds. */
const pieceLength = 1024 * 1024;

/** Longest escape: `\u0041`. */
const escapeLength = 6;

/** The last index up to `to` that is not within an escape, in the text of a string; `from` is such an index. */
function divideString(text: string, from: number, to: number): number {
  const near = Math.max(from, to - escapeLength);
  const at = near + text.slice(near, to).lastIndexOf("\\");
  if (at < near) return to;
  let first = at;
  while (first > from && text.charCodeAt(first - 1) === backslash) first -= 1;
  if ((at - first) % 2 === 1) return to; // the backslash that the one before it escapes
  const length = text.charAt(at + 1) === "u" ? escapeLength : 2;
  return at + length > to ? at : to;
}

function skipWhitespace(text: string, from: number, to: number): number {
  const few = Math.min(from + 32, to);
  for (let at = from; at < few; at++) {
    const character = text.charCodeAt(at);
    if (character !== 0x20 && character !== 0x0a && character !== 0x0d && character !== 0x09) {
      return at;
    }
  }
  if (few === to) return to;
  // For many of them a regular expression is several times as fast.
  whitespace.lastIndex = 0;
  whitespace.test(text.slice(few, to));
  return few + whitespace.lastIndex;
}

const whitespace = /[ \n\r\t]*/y;

/** Whether a string's text has no escapes and no characters to refuse. */
function isPlain(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const character = text.charCodeAt(at);
    if (character === backslash || character < 0x20) {
      return false;
    }
  }
  return true;
}

/** Index after the number that starts here; undefined when none does. */
function findNumberEnd(text: string, start: number): number | undefined {
  let at = text.charCodeAt(start) === 0x2d ? start + 1 : start;
  const integer = at;
  at = skipDigits(text, at);
  if (at === integer || (at > integer + 1 && text.charCodeAt(integer) === 0x30)) {
    return undefined;
  }
  if (text.charCodeAt(at) === 0x2e) {
    const fraction = at + 1;
    at = skipDigits(text, fraction);
    if (at === fraction) {
      return undefined;
    }
  }
  if ((text.charCodeAt(at) | 0x20) === 0x65) {
    const sign = text.charCodeAt(at + 1);
    const exponent = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
    at = skipDigits(text, exponent);
    if (at === exponent) {
      return undefined;
    }
  }
  return at;
}

function skipDigits(text: string, from: number): number {
  for (let at = from; at < from + 32; at++) {
    const character = text.charCodeAt(at);
    if (!(character >= 0x30 && character <= 0x39)) {
      return at;
    }
  }
  // For millions of numbers a regular expression is several times as fast.
  const other = /[^0-9]/g;
  other.lastIndex = from;
  return other.exec(text)?.index ?? text.length;
}
