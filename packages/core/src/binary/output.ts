import type { DescField } from "@bufbuild/protobuf";
import { divideText, utf8Length, writeUtf8 } from "../long-text.ts";

/** Size of a block of output in bytes. A longer value is not copied into a block. */
export const blockBytes: number = 64 * 1024;

/** Length up to which a loop in JavaScript is faster than a call of the platform's encoder, in characters. */
const shortText = 64;

const encoder = new TextEncoder();

/** A text that is encoded straight to its place, when there is one. */
class LongText {
  readonly text: string;
  /** In bytes. */
  readonly length: number;

  constructor(text: string) {
    this.text = text;
    this.length = utf8Length(text);
  }
}

type Part = Uint8Array | LongText;

/** Bytes that are all written next: Node need not fill them with zeros before, which takes as long again. */
function createBytes(length: number): Uint8Array<ArrayBuffer> {
  return allocUnsafeSlow === undefined
    ? new Uint8Array(length)
    : new Uint8Array(allocUnsafeSlow(length).buffer);
}

const { allocUnsafeSlow } =
  (globalThis as { readonly Buffer?: { allocUnsafeSlow?(length: number): { readonly buffer: ArrayBuffer } } })
    .Buffer ?? {}; // where there is one

/**
 * The output, written from its end to its beginning. So the length of a message is known before it is written in front
 * of it, and the encoder visits each message once.
 */
export class Output {
  /** The fields that a deterministic encoding leaves out; undefined for an ordinary one. */
  omit: ReadonlySet<DescField> | undefined;
  #block = new Uint8Array(blockBytes);
  #view = new DataView(this.#block.buffer);
  /** Where the written part of the block begins. */
  #position = blockBytes;
  /** What follows on the block; the last one first. */
  readonly #after: Part[] = [];
  #afterBytes = 0;
  /** Bytes that no step has made: long values, and what earlier steps have made. */
  #notInStep = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#afterBytes + blockBytes - this.#position;
  }

  finish(): Uint8Array<ArrayBuffer> {
    if (this.#after.length === 0) {
      return this.#block.slice(this.#position);
    }
    const bytes = createBytes(this.length);
    let at = blockBytes - this.#position;
    bytes.set(this.#block.subarray(this.#position));
    for (const part of this.#after.reverse()) {
      if (part instanceof LongText) {
        at += writeUtf8(part.text, bytes.subarray(at, at + part.length));
      } else {
        bytes.set(part, at);
        at += part.length;
      }
    }
    if (at !== bytes.length) {
      throw new Error("a text is not as long as it was counted"); // the rest may be anything
    }
    return bytes;
  }

  /** What has been written, in pieces. Long texts are encoded slice by slice: each step yields the bytes of one. */
  *pieces(): Generator<number, readonly Uint8Array[]> {
    const pieces: Uint8Array[] = [];
    for (const part of [this.#block.slice(this.#position), ...this.#after.reverse()]) {
      if (part instanceof LongText) {
        // Not an array for each slice: memory that is asked for again and again makes V8 collect garbage again and again.
        const bytes = new Uint8Array(part.length);
        let at = 0;
        for (const slice of divideText(part.text, blockBytes)) {
          const written = writeUtf8(slice, bytes.subarray(at));
          at += written;
          yield written;
        }
        pieces.push(bytes);
      } else if (part.length > 0) {
        pieces.push(part);
      }
    }
    return pieces;
  }

  /** Whether what was written since the last step is a step. */
  get hasStep(): boolean {
    return this.length - this.#notInStep >= blockBytes;
  }

  /** Ends a step. @returns the bytes that it has made */
  takeStep(): number {
    const made = this.length - this.#notInStep;
    this.#notInStep = this.length;
    return made;
  }

  /** Takes the last byte back if it is all that was written since the output had this length. */
  dropEmpty(length: number): boolean {
    const isEmpty = this.length === length + 1;
    this.#position += isEmpty ? 1 : 0;
    return isEmpty;
  }

  /** The block is used again. */
  clear(): void {
    this.#position = blockBytes;
    this.#after.length = 0;
    this.#afterBytes = 0;
    this.#notInStep = 0;
  }

  /** Makes room for this many bytes. */
  #reserve(size: number): void {
    if (this.#position < size) {
      this.#begin();
    }
  }

  /** Begins another block, before what has been written. */
  #begin(): void {
    this.#after.push(this.#block.subarray(this.#position));
    this.#afterBytes = this.length;
    this.#block = new Uint8Array(blockBytes);
    this.#view = new DataView(this.#block.buffer);
    this.#position = blockBytes;
  }

  /** Puts a value before what has been written, without copying it. */
  #put(value: Part): void {
    this.#after.push(this.#block.slice(this.#position), value);
    this.#afterBytes = this.length + value.length;
    // To count the bytes of a text takes a quarter as long as to encode it.
    this.#notInStep += value instanceof LongText ? Math.floor(value.length * 0.75) : value.length;
    this.#position = blockBytes;
  }

  /** An unsigned number of up to 32 bits. */
  varint(value: number): void {
    this.#reserve(5);
    if (value < 0x80) {
      this.#block[--this.#position] = value;
      return;
    }
    const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    this.#position -= size;
    let at = this.#position;
    let rest = value;
    while (rest > 0x7f) {
      this.#block[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#block[at] = rest;
  }

  varint64(low: number, high: number): void {
    if (high === 0) {
      this.varint(low >>> 0);
      return;
    }
    this.#reserve(10);
    this.#position -= Math.ceil((64 - Math.clz32(high)) / 7);
    let at = this.#position;
    let [lo, hi] = [low >>> 0, high >>> 0];
    while (hi > 0 || lo > 0x7f) {
      this.#block[at++] = (lo & 0x7f) | 0x80;
      lo = ((lo >>> 7) | (hi << 25)) >>> 0;
      hi >>>= 7;
    }
    this.#block[at] = lo;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#position -= 8;
    this.#view.setFloat64(this.#position, this.omit === undefined ? value : value + 0, true); // -0 + 0 is 0
  }

  raw(value: Uint8Array): void {
    if (value.length > blockBytes) {
      this.#put(value);
      return;
    }
    this.#reserve(value.length);
    this.#position -= value.length;
    this.#block.set(value, this.#position);
  }

  /** With its length before it. */
  text(value: string): void {
    const end = this.length;
    if (value.length <= shortText) {
      this.#shortText(value);
    } else if (value.length > blockBytes) {
      this.#put(new LongText(value));
    } else if (!this.#ascii(value)) {
      this.raw(encoder.encode(value));
    }
    this.varint(this.length - end);
  }

  /** @returns false, and writes nothing, when the text has other characters */
  #ascii(value: string): boolean {
    const { length } = value;
    this.#reserve(length);
    const room = this.#block.subarray(this.#position - length, this.#position);
    const isAscii = encoder.encodeInto(value, room).read === length;
    this.#position -= isAscii ? length : 0;
    return isAscii;
  }

  /** Half of a surrogate pair becomes U+FFFD, as in `TextEncoder`. */
  #shortText(value: string): void {
    this.#reserve(3 * shortText);
    const block = this.#block;
    let at = this.#position;
    for (let index = value.length - 1; index >= 0; index--) {
      let code = value.charCodeAt(index);
      if (code < 0x80) {
        block[--at] = code;
        continue;
      }
      if ((code & 0xf800) === 0xd800) {
        const high = value.charCodeAt(index - 1);
        const isPair = code >= 0xdc00 && (high & 0xfc00) === 0xd800;
        code = isPair ? 0x10000 + ((high & 0x3ff) << 10) + (code & 0x3ff) : 0xfffd;
        index -= isPair ? 1 : 0;
      }
      block[--at] = 0x80 | (code & 0x3f);
      if (code < 0x800) {
        block[--at] = 0xc0 | (code >> 6);
        continue;
      }
      block[--at] = 0x80 | ((code >> 6) & 0x3f);
      if (code < 0x10000) {
        block[--at] = 0xe0 | (code >> 12);
        continue;
      }
      block[--at] = 0x80 | ((code >> 12) & 0x3f);
      block[--at] = 0xf0 | (code >> 18);
    }
    this.#position = at;
  }
}
