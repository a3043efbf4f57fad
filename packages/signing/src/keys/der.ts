import { coordinateLengths } from "./algorithms.ts";

/** What jose does not tell of a certificate (RFC 5280 §4.1). */
export interface Certificate {
  /** Its validity, in seconds since 1970: from `nbf` on, before `exp`. */
  readonly nbf: number;
  readonly exp: number;
  /** Names, as the numbers of their DER. */
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Reads a certificate. Its issuer is not verified: the caller trusts the key itself.
 *
 * @returns undefined when it is none
 */
export function readCertificate(bytes: Uint8Array<ArrayBuffer>): Certificate | undefined {
  const certificate = insideSequence(readDer(bytes)?.[0]);
  const fields = insideSequence(certificate?.[0]);
  // The version stands first, but for certificates of version 1.
  const offset = fields?.[0]?.tag === derTags.context0 ? 1 : 0;
  const [, , issuer, validity, subject] = fields?.slice(offset) ?? [];
  const [notBefore, notAfter] = insideSequence(validity) ?? [];
  const [nbf, last] = [readTime(notBefore), readTime(notAfter)];
  if (nbf === undefined || last === undefined || issuer === undefined || subject === undefined) {
    return undefined;
  }
  return { nbf, exp: last + 1, issuer: issuer.content.join(), subject: subject.content.join() };
}

function insideSequence(element: DerElement | undefined): readonly DerElement[] | undefined {
  return element?.tag === derTags.sequence ? readDer(element.content) : undefined;
}

/** Seconds since 1970 (RFC 5280 §4.1.2.5): `YYMMDDHHMMSSZ` until 2049, `YYYYMMDDHHMMSSZ` from then on. */
function readTime(element: DerElement | undefined): number | undefined {
  if (element?.tag !== derTags.utcTime && element?.tag !== derTags.generalizedTime) return undefined;
  const text = new TextDecoder().decode(element.content);
  const digits = element.tag === derTags.utcTime ? `${text < "50" ? "20" : "19"}${text}` : text;
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? undefined : time / 1000;
}

/** Algorithms whose signatures have a form of DER, too. */
export type EcdsaAlgorithm = "ES256" | "ES384";

/**
 * An ECDSA signature as JWS wants it, R||S (RFC 7518 §3.4), from the DER that key management services and OpenSSL give
 * (RFC 3279 §2.2.3).
 *
 * @returns undefined when it is no such DER, or one of a larger curve
 */
export function ecdsaFromDer(der: Uint8Array, alg: EcdsaAlgorithm): Uint8Array<ArrayBuffer> | undefined {
  const elements = readDer(Uint8Array.from(der));
  const [sequence] = elements ?? [];
  if (elements?.length !== 1 || sequence?.tag !== derTags.sequence) return undefined;
  const integers = readDer(sequence.content);
  const [r, s] = integers ?? [];
  if (integers?.length !== 2 || r === undefined || s === undefined) return undefined;
  const length = coordinateLengths[alg === "ES256" ? "P-256" : "P-384"];
  const signature = new Uint8Array(2 * length);
  return placeInteger(r, signature.subarray(0, length)) && placeInteger(s, signature.subarray(length))
    ? signature
    : undefined;
}

/** Writes a positive integer to the right of a field. Its sign takes a byte of its own when its first bit is set. */
function placeInteger({ tag, content }: DerElement, target: Uint8Array): boolean {
  const first = content[0] ?? 0;
  if (first >= 0x80) return false; // a negative one
  const digits = first === 0 ? content.subarray(1) : content;
  if (tag !== derTags.integer || digits.length === 0 || digits.length > target.length) return false;
  target.set(digits, target.length - digits.length);
  return true;
}

/** An element of DER (X.690): a tag, and what it holds. */
interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Tags that keys, certificates and signatures are made of. */
const derTags = {
  integer: 0x02,
  sequence: 0x30,
  utcTime: 0x17,
  generalizedTime: 0x18,
  /** `[0] EXPLICIT`, which is the version of a certificate. */
  context0: 0xa0,
} as const;

/**
 * The elements that some bytes consist of, one after the other. What they hold is not looked into.
 *
 * @returns undefined when they are no DER: cut off, or with a length that is not the shortest
 */
function readDer(bytes: Uint8Array<ArrayBuffer>): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let start = 0; start < bytes.length; ) {
    const tag = bytes[start] ?? 0;
    const length = readLength(bytes, start + 1);
    if (length === undefined || length.end > bytes.length) return undefined;
    const { begin, end } = length;
    elements.push({ tag, content: bytes.subarray(begin, end) });
    start = end;
  }
  return elements;
}

/** Where the content begins and ends. */
function readLength(
  bytes: Uint8Array,
  at: number,
): { readonly begin: number; readonly end: number } | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  if (first < 0x80) return { begin: at + 1, end: at + 1 + first };
  const count = first & 0x7f;
  const begin = at + 1 + count;
  if (count === 0 || count > 3 || begin > bytes.length) return undefined;
  let length = 0;
  for (const byte of bytes.subarray(at + 1, begin)) length = length * 256 + byte;
  const isShortest = length >= 0x80 && bytes[at + 1] !== 0;
  return isShortest ? { begin, end: begin + length } : undefined;
}
