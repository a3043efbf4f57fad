import { coordinateLengths } from "./algorithms.ts";

/**
 * The validity of a certificate, in seconds since 1970 (RFC 5280 §4.1), which jose does not tell: it counts from `nbf` on and before
 * `exp`. Its issuer is not verified: the caller trusts the key itself.
 *
 * @returns undefined when it is no certificate
 */
export function readValidity(
  bytes: Uint8Array<ArrayBuffer>,
): { readonly nbf: number; readonly exp: number } | undefined {
  const certificate = readSequence(readDer(bytes)?.[0]);
  const fields = readSequence(certificate?.[0]) ?? [];
  const hasVersion = fields[0]?.tag === tags.context0; // those of version 1 do not say it
  const [nbf, last] = (readSequence(fields[hasVersion ? 4 : 3]) ?? []).map(readTime);
  return nbf === undefined || last === undefined ? undefined : { nbf, exp: last + 1 };
}

/** Seconds since 1970 (RFC 5280 §4.1.2.5): `YYMMDDHHMMSSZ` until 2049, `YYYYMMDDHHMMSSZ` from then on. */
function readTime({ tag, content }: DerElement): number | undefined {
  if (tag !== tags.utcTime && tag !== tags.generalizedTime) return undefined;
  const text = new TextDecoder().decode(content);
  const digits = tag === tags.utcTime ? `${text < "50" ? "20" : "19"}${text}` : text;
  const [, date, ...time] = /^(\d{8})(\d\d)(\d\d)(\d\d)Z$/.exec(digits) ?? [];
  const iso = date?.replace(/(\d\d)(\d\d)$/, "-$1-$2");
  const ms = Date.parse(`${iso}T${time.join(":")}Z`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
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
  const [sequence, ...others] = readDer(Uint8Array.from(der)) ?? [];
  const integers = others.length === 0 ? readSequence(sequence) : undefined;
  const length = coordinateLengths[alg === "ES256" ? "P-256" : "P-384"];
  const signature = new Uint8Array(2 * length);
  const isPlaced = (integer: DerElement, index: number) =>
    placeInteger(integer, signature.subarray(index * length, (index + 1) * length));
  return integers?.length === 2 && integers.every(isPlaced) ? signature : undefined;
}

/** Writes a positive integer to the right of a field. Its sign takes a byte of its own when its first bit is set. */
function placeInteger({ tag, content }: DerElement, target: Uint8Array): boolean {
  const first = content[0] ?? 0;
  if (first >= 0x80) return false; // a negative one
  const digits = first === 0 ? content.subarray(1) : content;
  if (tag !== tags.integer || digits.length === 0 || digits.length > target.length) return false;
  target.set(digits, target.length - digits.length);
  return true;
}

/** An element of DER (X.690): a tag, and what it holds. */
interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** `context0` is `[0] EXPLICIT`, which is the version of a certificate. */
const tags = { integer: 0x02, sequence: 0x30, utcTime: 0x17, generalizedTime: 0x18, context0: 0xa0 } as const;

function readSequence(element: DerElement | undefined): readonly DerElement[] | undefined {
  return element?.tag === tags.sequence ? readDer(element.content) : undefined;
}

/**
 * The elements that some bytes consist of, one after the other. What they hold is not looked into.
 *
 * @returns undefined when they are no DER: cut off, or with a length that is not the shortest
 */
function readDer(bytes: Uint8Array<ArrayBuffer>): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let end = 0; end < bytes.length; ) {
    const [tag = 0, first = 0x80] = bytes.subarray(end);
    const count = first < 0x80 ? 0 : first - 0x80; // of the bytes of the length, when it is a long one
    const begin = end + 2 + count;
    const long = bytes.subarray(end + 2, begin);
    const length = first < 0x80 ? first : long.reduce((sum, byte) => sum * 256 + byte, 0);
    const isShortest = first < 0x80 || (count <= 3 && length >= 0x80 && long[0] !== 0);
    end = begin + length;
    if (!isShortest || end > bytes.length) return undefined;
    elements.push({ tag, content: bytes.subarray(begin, end) });
  }
  return elements;
}
