/** Bytes in one piece of base64: whole groups of three. */
const pieceBytes = 48 * 1024;

/** What one piece is in characters. */
const pieceLength = (pieceBytes / 3) * 4;

/** The base64 of bytes in pieces, standard alphabet and padded: they can be put one after the other. */
export function* formatBase64InPieces(bytes: Uint8Array): Generator<string, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield formatPiece(bytes.subarray(at, at + pieceBytes));
  }
}

/** Node's encoder where there is one; that of other platforms takes characters. */
function formatPiece(bytes: Uint8Array): string {
  if (nodeBuffer !== undefined) {
    return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  }
  let characters = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    characters += String.fromCharCode(...bytes.subarray(at, at + 4096));
  }
  return btoa(characters);
}

/**
 * The bytes that a text says in base64: standard or URL-safe alphabet, also mixed, padded or not (H-5).
 *
 * @returns undefined for what is no base64: anything else in it, white space as well, or an impossible length
 */
export function parseBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.length - countPadding(text);
  if (digits % 4 === 1 || (digits < text.length && text.length % 4 !== 0)) {
    return undefined;
  }
  const bytes = new Uint8Array(Math.floor((digits * 3) / 4));
  for (let at = parseByNode(text, digits, bytes); at < digits; at += pieceLength) {
    const length = Math.min(pieceLength, digits - at);
    if (!parsePiece(text.slice(at, at + length), bytes, (at / 4) * 3)) {
      return undefined;
    }
  }
  return bytes;
}

function countPadding(text: string): number {
  return text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
}

/**
 * Reads the whole pieces that a text begins with by Node's decoder, which costs a tenth of ours. It skips what is no base64, and
 * takes some other letters for digits; so a piece counts only when its bytes give the very same text again.
 *
 * @returns how many characters were read: none where there is no such decoder
 */
function parseByNode(text: string, digits: number, bytes: Uint8Array<ArrayBuffer>): number {
  let at = 0;
  if (nodeBuffer === undefined || digits < pieceLength) {
    return at;
  }
  const buffer = nodeBuffer.from(bytes.buffer, 0, bytes.length);
  // A text has one alphabet. Of one that mixes them only the beginning is read here, and no piece more than twice.
  for (const alphabet of ["base64", "base64url"] as const) {
    for (; at + pieceLength <= digits; at += pieceLength) {
      const piece = text.slice(at, at + pieceLength);
      const to = (at / 4) * 3;
      buffer.write(piece, to, pieceBytes, alphabet);
      if (buffer.toString(alphabet, to, to + pieceBytes) !== piece) {
        break;
      }
    }
  }
  return at;
}

/**
 * A piece as bytes, which are read several times as fast as characters. There is room for a last character of four bytes:
 * one that finds none would leave what an earlier piece had there.
 */
const room = new Uint8Array(pieceLength + 3);

/**
 * Reads a piece without its padding, from `to` on.
 *
 * @returns false when there is something else than digits in it
 */
function parsePiece(piece: string, bytes: Uint8Array, to: number): boolean {
  encoder.encodeInto(piece, room); // the first character that is not ASCII becomes bytes, in its place, that are no digits
  const { length } = piece;
  const rest = length % 4;
  /** All digits together: the bit of `notADigit` stays. */
  let seen = 0;
  let at = 0;
  let end = to;
  for (; at < length - rest; at += 4) {
    const one = digitAt(at);
    const two = digitAt(at + 1);
    const three = digitAt(at + 2);
    const four = digitAt(at + 3);
    seen |= one | two | three | four;
    bytes[end++] = (one << 2) | (two >> 4);
    bytes[end++] = (two << 4) | (three >> 2);
    bytes[end++] = (three << 6) | four;
  }
  if (rest > 0) {
    const one = digitAt(at);
    const two = digitAt(at + 1);
    const three = rest === 3 ? digitAt(at + 2) : 0;
    seen |= one | two | three;
    bytes[end++] = (one << 2) | (two >> 4);
    if (rest === 3) {
      bytes[end] = (two << 4) | (three >> 2);
    }
  }
  return seen < notADigit;
}

function digitAt(at: number): number {
  return base64Digits[room[at] ?? 0] ?? notADigit;
}

const encoder = new TextEncoder();

const notADigit = 64;

/** What each byte is worth, `notADigit` for others. */
const base64Digits = new Uint8Array(256).fill(notADigit);
for (const alphabet of ["+/", "-_"]) {
  const digits = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  encoder.encode(digits).forEach((byte, worth) => {
    base64Digits[byte] = worth;
  });
}

type Alphabet = "base64" | "base64url";

interface NodeBuffer {
  from(
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ): {
    write(text: string, offset: number, length: number, alphabet: Alphabet): number;
    toString(alphabet: Alphabet, start?: number, end?: number): string;
  };
  isEncoding(name: Alphabet): boolean;
}

const platform = globalThis as { readonly Buffer?: NodeBuffer }; // where there is one

/** Imitations of it that some bundlers bring along do not know the URL-safe alphabet. */
const nodeBuffer = platform.Buffer?.isEncoding("base64url") ? platform.Buffer : undefined;
