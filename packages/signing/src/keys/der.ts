/** An element of DER (X.690): a tag, and what it holds. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array<ArrayBuffer>;
  /** The whole of it, with its tag and length. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Tags that keys, certificates and signatures are made of. */
export const derTags = {
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
export function readDer(bytes: Uint8Array<ArrayBuffer>): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let start = 0; start < bytes.length; ) {
    const tag = bytes[start] ?? 0;
    const length = readLength(bytes, start + 1);
    if (length === undefined || length.end > bytes.length) return undefined;
    const { begin, end } = length;
    elements.push({ tag, content: bytes.subarray(begin, end), bytes: bytes.subarray(start, end) });
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
