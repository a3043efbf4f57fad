/** A block of PEM (RFC 7468): `-----BEGIN label-----` and what it holds. */
export interface PemBlock {
  /** Such as `PRIVATE KEY`. */
  readonly label: string;
  /** Undefined: what stands between its lines is not base64, or encrypted as older tools did it. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*(?:-(?!----)[^-]*)*)-----END \1-----/g;

/** Whether a text is meant to be PEM. */
export function isPem(text: string): boolean {
  return text.includes("-----BEGIN ");
}

/** The blocks of a text, in order. What stands around them is passed over, as some tools write notes there. */
export function readPem(text: string): readonly PemBlock[] {
  return Array.from(text.matchAll(block), ([, label = "", body = ""]) => ({
    label,
    bytes: decodeBase64(body),
  }));
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text.replaceAll(/\s/g, "")), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
