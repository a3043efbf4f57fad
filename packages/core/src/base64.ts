/** Bytes in one piece of base64: whole groups of three. */
const pieceBytes = 48 * 1024;

/** The length of one piece, in characters. */
const pieceLength = (pieceBytes / 3) * 4;

/** The base64 of bytes in pieces, standard alphabet and padded. The pieces joined are the whole text. */
export function* formatBase64InPieces(bytes: Uint8Array): Generator<string, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield formatBase64(bytes.subarray(at, at + pieceBytes));
  }
}

/** The base64 of bytes, standard alphabet and padded. Node's encoder where it exists; that of other platforms takes characters. */
export function formatBase64(bytes: Uint8Array): string {
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
 * The bytes of a base64 text: standard or URL-safe alphabet, also mixed, padded or not (H-5).
 *
 * @returns undefined for text that is not base64: another character, white space included, or an impossible length
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
 * Reads the first whole pieces of a text with Node's decoder, which costs a tenth of ours. Node's decoder skips
 * characters that are not base64, and takes some other letters for digits. So a piece counts only when its bytes give
 * the same text again.
 *
 * @returns how many characters were read: none where the decoder does not exist
 */
function parseByNode(text: string, digits: number, bytes: Uint8Array<ArrayBuffer>): number {
  let at = 0;
  if (nodeBuffer === undefined || digits < pieceLength) {
    return at;
  }
  const buffer = nodeBuffer.from(bytes.buffer, 0, bytes.length);
  // A text has one alphabet. When a text mixes both, only its beginning is read here, and each piece at most twice.
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
 * A piece as bytes, which are read several times as fast as characters. The buffer has room for a last character of
 * four bytes; with less room, the encoder would leave bytes of an earlier piece there.
 */
const room = new Uint8Array(pieceLength + 3);

/**
 * Reads a piece without its padding, and writes the bytes from `to` on.
 *
 * @returns false when the piece contains something other than digits
 */
function parsePiece(piece: string, bytes: Uint8Array, to: number): boolean {
  encoder.encodeInto(piece, room); // the first other character becomes bytes that are not digits
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

/** The value of each byte as a digit; `notADigit` for all others. */
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

const platform = globalThis as { readonly Buffer?: NodeBuffer }; // where it exists

/** Imitations of Buffer that some bundlers add do not know the URL-safe alphabet. */
const nodeBuffer = platform.Buffer?.isEncoding("base64url") ? platform.Buffer : undefined;
