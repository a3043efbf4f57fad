const encoder = new TextEncoder();

/** SHA-256 of bytes, or of the UTF-8 of a text. */
export async function sha256(content: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** The same as hex digits, in lower case. */
export async function sha256Hex(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return formatHex(await sha256(content));
}

/** Bytes as hex digits, in lower case. */
export function formatHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Hex digits as bytes. */
export function parseHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** Whether two byte strings are equal; it takes as long for all of one length. */
export function constantTimeEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++) {
    difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  }
  return difference === 0;
}
