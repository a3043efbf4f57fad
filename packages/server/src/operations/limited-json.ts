import { formatString } from "@a2a-connect/core/internal";

/** A text that ends where its length does, and how much was looked at for it. */
export interface LimitedText {
  readonly text: string;
  /** The characters that were made, and the names that were looked for. */
  readonly work: number;
}

/** What stands for a value with a bigint, or with a reference to what it is part of. */
const inexpressible = '"a value that JSON cannot express"';

/** Objects are left out once so many times as many names were found as there may be characters. */
const namesForCharacter = 2;

/** Characters of a text that are written at a time. */
const pieceLength = 1024;

/**
 * The first characters of what `JSON.stringify` gives. No more than these are made: a journal stores what occurs thousands of times in a
 * value once, and an array without items by its length. Nor does it look for more than twice as many names, which may leave no text.
 *
 * @param root a value of a journal
 */
export function formatUpTo(root: unknown, maxLength: number): LimitedText {
  const first = toPlain(root);
  if (isAbsent(first)) return { text: "", work: 1 };
  const writer = new LimitedWriter(maxLength);
  const isWritten = writer.write(first);
  return { text: isWritten ? writer.text : inexpressible, work: writer.work };
}

/** An array or object that is being written. */
interface Open {
  readonly value: object;
  readonly isArray: boolean;
  /** Undefined: of an array, or of numbers, whose names are their indexes. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  visited: number;
  isEmpty: boolean;
}

class LimitedWriter {
  readonly #maxLength: number;
  readonly #open: Open[] = [];
  readonly #outer = new Set<object>();
  #text = "";
  /** How many names were looked for. An object of which no member is written takes as long as others. */
  #names = 0;
  #isCut = false;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** It never ends with half of a character. */
  get text(): string {
    return this.#text.slice(0, this.#maxLength).toWellFormed();
  }

  get work(): number {
    return this.#text.length + this.#names;
  }

  /** @returns false for what JSON cannot express */
  write(root: unknown): boolean {
    let isWritten = this.#add(root);
    for (let inner = this.#open.at(-1); inner !== undefined && isWritten; inner = this.#open.at(-1)) {
      if (this.#isCut || this.#text.length >= this.#maxLength) break;
      if (inner.visited === inner.length) this.#close(inner);
      else isWritten = this.#addNext(inner);
    }
    return isWritten;
  }

  #addNext(inner: Open): boolean {
    const { value, isArray, names, visited } = inner;
    const name = isArray ? undefined : (names?.[visited] ?? String(visited));
    const element = toPlain((value as Readonly<Record<string | number, unknown>>)[name ?? visited]); // one that it has
    inner.visited += 1;
    if (name !== undefined && isAbsent(element)) return true;
    if (!inner.isEmpty) this.#text += ",";
    inner.isEmpty = false;
    if (name !== undefined) {
      this.#addText(name);
      this.#text += ":";
    }
    return this.#add(element);
  }

  #add(value: unknown): boolean {
    switch (typeof value) {
      case "string":
        this.#addText(value);
        return true;
      case "number":
        this.#text += Number.isFinite(value) ? String(value) : "null";
        return true;
      case "bigint":
        return false;
      case "boolean":
        this.#text += String(value);
        return true;
      default:
        if (typeof value === "object" && value !== null) return this.#begin(value);
        this.#text += "null";
        return true;
    }
  }

  #addText(text: string): void {
    const pieces = formatString(text, pieceLength);
    for (const piece of typeof pieces === "string" ? [pieces] : pieces) {
      this.#text += piece;
      if (this.#text.length >= this.#maxLength) return;
    }
  }

  #begin(value: object): boolean {
    if (this.#outer.has(value)) return false;
    if (this.#names > namesForCharacter * this.#maxLength) {
      this.#isCut = true;
      return true;
    }
    this.#outer.add(value);
    const isArray = Array.isArray(value);
    this.#text += isArray ? "[" : "{";
    const inner = { value, isArray, visited: 0, isEmpty: true };
    if (isArray || isNumbers(value)) {
      this.#open.push({ ...inner, names: undefined, length: value.length });
    } else {
      const names = Object.keys(value);
      this.#names += names.length;
      this.#open.push({ ...inner, names, length: names.length });
    }
    return true;
  }

  #close({ value, isArray }: Open): void {
    this.#text += isArray ? "]" : "}";
    this.#open.pop();
    this.#outer.delete(value);
  }
}

/** Bytes and other numbers, of which each has its index as a name. */
function isNumbers(value: object): value is Uint8Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** What stands for it in JSON: a date's text, what is in a wrapper. */
function toPlain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (
    value instanceof String ||
    value instanceof Number ||
    value instanceof Boolean ||
    value instanceof BigInt
  ) {
    return value.valueOf();
  }
  return "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;
}

/** Whether JSON leaves a member with it out. */
function isAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}
