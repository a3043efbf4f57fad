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
