import { WireType } from "@bufbuild/protobuf/wire";

export interface DecodeOptions {
  /**
   * How deep messages may be nested, counting the outermost message and those of Values, Structs and lists. Default no
   * limit.
   */
  readonly maxDepth?: number;
  /**
   * How many values the message may have, counted while it is read. A field counts one each time it occurs, known or
   * not; an element of a packed field or a ListValue counts one; an entry of a map or a Struct counts two, and
   * one with a long name more. Values in a
   * message that protobuf-es decodes are not counted: a message of a type that is not proto3, or that has kinds of
   * fields that A2A does not use. Default no limit.
   */
  readonly maxValues?: number;
  /** What each name of a Struct beyond its first `manyNames` counts besides. Default 0. */
  readonly manyNamesValues?: number;
  /**
   * What the decoder does with fields that the message's type does not have. Default `keep`: an encoder writes them
   * again.
   */
  readonly unknownFields?: "drop" | "keep";
  /** Told after each slice how many values it had, counted as for `maxValues`, but an object or a list of JSON as three (`JsonSize`). */
  readonly onValues?: (values: number) => void;
}

/** Why bytes were not read as a message. */
export class DecodeError extends Error {
  readonly reason: "malformed" | "too-deep" | "too-many-values";

  constructor(reason: DecodeError["reason"], message: string) {
    super(message);
    this.name = "DecodeError";
    this.reason = reason;
  }
}

/** More values than any message has. It is a 32-bit number, which costs less to count with than Infinity. */
const unlimited = 0x3fff_ffff;

/** What is still to be read of a message, in the order of the bytes. */
interface Rest {
  readonly position: number;
  readonly depthLeft: number;
  readonly read: () => void;
}

/** The bytes, how far they are read, and the limits on the rest. */
export class Input {
  readonly bytes: Uint8Array;
  readonly keepsUnknown: boolean;
  readonly manyNamesValues: number;
  readonly #maxValues: number;
  readonly #maxDepth: number;
  #valuesLeft: number;
  #depthLeft: number;
  #view: DataView | undefined;
  position = 0;
  /** Objects and lists of JSON that were read. */
  containers = 0;
  /** Reading pauses here, in the fields of all open messages. */
  stop: number = Number.POSITIVE_INFINITY;
  /** The paused messages. The innermost one, whose bytes come first, is the last. */
  #rests: Rest[] = [];
  /** The upper half of the last number that was read. */
  high = 0;
  /** The bytes of the last text that was not short. */
  textBytes: Uint8Array = new Uint8Array();

  constructor(bytes: Uint8Array, options: DecodeOptions) {
    const { maxDepth, maxValues, unknownFields, manyNamesValues = 0 } = options;
    this.bytes = bytes;
    this.manyNamesValues = manyNamesValues;
    this.keepsUnknown = unknownFields !== "drop";
    this.#maxValues = this.#valuesLeft = Math.min(maxValues ?? unlimited, unlimited);
    this.#maxDepth = this.#depthLeft = Math.min(maxDepth ?? unlimited, unlimited);
  }

  count(values: number): void {
    this.#valuesLeft -= values;
    if (this.#valuesLeft < 0) {
      throw new DecodeError("too-many-values", `there are more than ${this.#maxValues} values`);
    }
  }

  /** How many values were read. */
  get values(): number {
    return this.#maxValues - this.#valuesLeft;
  }

  /** A message begins, or a group of unknown fields. */
  enter(): void {
    this.#depthLeft--;
    if (this.#depthLeft < 0) {
      throw new DecodeError("too-deep", `messages are nested deeper than ${this.#maxDepth} levels`);
    }
  }

  leave(): void {
    this.#depthLeft++;
  }

  get isPaused(): boolean {
    return this.#rests.length > 0;
  }

  /**
   * Leaves the fields from here to the end of a message for later, and continues behind them. The surrounding message
   * must not read them first, so it pauses there as well: its `position` is beyond `stop`.
   */
  pause(end: number, read: () => void): void {
    this.#rests.unshift({ position: this.position, depthLeft: this.#depthLeft, read });
    this.position = end;
  }

  /** The position of the first bytes that were left for later. */
  get reached(): number {
    return this.#rests.at(-1)?.position ?? this.position;
  }

  /** Continues at the first bytes that were left. @returns how many bytes it has read: about `bytes` */
  resume(bytes: number): number {
    const rest = this.#rests.pop();
    if (rest === undefined) {
      return 0;
    }
    const outer = this.#rests;
    this.#rests = [];
    this.position = rest.position;
    this.#depthLeft = rest.depthLeft;
    this.stop = rest.position + bytes;
    rest.read();
    const read = this.reached - rest.position;
    this.#rests = [...outer, ...this.#rests];
    return read;
  }

  /** Reads everything that was paused, because the following bytes change it. */
  finish(): void {
    const { position, stop } = this;
    const depthLeft = this.#depthLeft;
    while (this.isPaused) {
      this.resume(Number.POSITIVE_INFINITY);
    }
    this.position = position;
    this.stop = stop;
    this.#depthLeft = depthLeft;
  }

  /**
   * Whether a value takes half of the memory that a view of it would keep: that of the whole buffer. The bytes themselves may be a
   * view of a much larger one, such as Node's pool for buffers, or a page of a store.
   */
  isMost(size: number): boolean {
    return size * 2 >= this.bytes.buffer.byteLength;
  }

  /** How many more messages may be nested here. */
  get depthLeft(): number {
    return this.#depthLeft;
  }

  /** The position `size` bytes from here, which must not be beyond `end`. */
  after(size: number, end: number): number {
    const after = this.position + size;
    if (after > end) {
      throw malformed("a field reaches beyond the message that it is in");
    }
    return after;
  }

  /** The end of a value that begins with its length. */
  delimited(end: number): number {
    return this.after(this.varint(end), end);
  }

  tag(end: number): number {
    const start = this.position;
    const tag = this.varint(end);
    const size = this.position - start;
    if (tag < 8 || size > 5 || this.high !== 0) {
      throw malformed("a field has no valid number");
    }
    return tag;
  }

  /** The lower 32 bits, unsigned, of a number of up to 64 bits; the upper bits are in `high`. */
  varint(end: number): number {
    const { bytes } = this;
    let at = this.position;
    const byte = at < end ? (bytes[at++] ?? 0) : 0x80;
    if (byte < 0x80) {
      this.position = at;
      this.high = 0;
      return byte;
    }
    return this.#longVarint(end);
  }

  #longVarint(end: number): number {
    const { bytes } = this;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70 && this.position < end; shift += 7) {
      const byte = bytes[this.position++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 28) {
        low |= bits << shift;
      } else if (shift === 28) {
        low |= bits << 28;
        high = bits >> 4;
      } else {
        high |= bits << (shift - 32);
      }
      if (byte < 0x80) {
        this.high = high;
        return low >>> 0;
      }
    }
    throw malformed("a number has no end");
  }

  double(end: number): number {
    const at = this.position;
    this.position = this.after(8, end);
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    return this.#view.getFloat64(at, true);
  }

  text(end: number): string {
    const after = this.delimited(end);
    const text = after - this.position <= shortText ? shortUtf8(this.bytes, this.position, after) : undefined;
    const start = this.position;
    this.position = after;
    if (text !== undefined) {
      return text;
    }
    this.textBytes = this.bytes.subarray(start, after);
    return decodeUtf8(this.textBytes);
  }

  /** Skips a field that is not known; the values in a group count, too. */
  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case WireType.Varint:
        this.varint(end);
        break;
      case WireType.Bit64:
        this.position = this.after(8, end);
        break;
      case WireType.Bit32:
        this.position = this.after(4, end);
        break;
      case WireType.LengthDelimited:
        this.position = this.delimited(end);
        break;
      case WireType.StartGroup:
        this.#skipGroup(tag, end);
        break;
      default:
        throw malformed("a group ends that did not begin, or a field has no valid type");
    }
  }

  #skipGroup(startTag: number, end: number): void {
    this.enter();
    for (let tag = this.tag(end); tag !== startTag + 1; tag = this.tag(end)) {
      this.count(1);
      this.skip(tag, end);
    }
    this.leave();
  }
}

/** The error for bytes that are not a message. */
export function malformed(message: string): DecodeError {
  return new DecodeError("malformed", message);
}

/** Bytes up to which a loop in JavaScript is faster than a call of the decoder. */
const shortText = 48;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed("a text is not valid UTF-8");
  }
}

/** @returns undefined for invalid UTF-8, and for texts that the platform's decoder must decide on */
function shortUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  const codes: number[] = [];
  for (let at = start; at < end; ) {
    const first = bytes[at++] ?? 0;
    if (first < 0x80) {
      codes.push(first);
      continue;
    }
    const length = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    if (length === 0 || at + length > end) {
      return undefined;
    }
    let code = first & (0x3f >> length);
    for (let rest = length; rest > 0; rest--) {
      const next = bytes[at++] ?? 0;
      if ((next & 0xc0) !== 0x80) {
        return undefined;
      }
      code = (code << 6) | (next & 0x3f);
    }
    if (length === 2 && (code < 0x800 || (code & 0xf800) === 0xd800)) {
      return undefined;
    }
    if (length === 3) {
      if (code < 0x10000 || code > 0x10ffff) {
        return undefined;
      }
      codes.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
    } else {
      codes.push(code);
    }
  }
  return String.fromCharCode.apply(String, codes);
}
