import { isObject, readObject } from "./loose-json.ts";

/** What a signature's protected header says; undefined where it says nothing, or no text. */
export interface SignatureHeader {
  readonly kid: string | undefined;
  readonly alg: string | undefined;
  readonly typ: string | undefined;
  readonly jku: string | undefined;
}

/**
 * The protected headers of a card's signatures, by their place, for people to see: nothing is verified here, and what cannot be
 * read says nothing.
 *
 * @param text a card as it was received, whatever is wrong with it
 */
export function readSignatureHeaders(text: string): readonly SignatureHeader[] {
  const { signatures } = readObject(text);
  return Array.isArray(signatures) ? signatures.map(readHeader) : [];
}

/** What a card calls itself; undefined where it does not. */
export function readSubject(text: string): { readonly name?: string; readonly version?: string } {
  const { name, version } = readObject(text);
  return {
    ...(typeof name === "string" && name !== "" ? { name } : {}),
    ...(typeof version === "string" && version !== "" ? { version } : {}),
  };
}

function readHeader(signature: unknown): SignatureHeader {
  const encoded = isObject(signature) ? signature["protected"] : undefined;
  const json = typeof encoded === "string" ? Buffer.from(encoded, "base64url").toString("utf8") : "";
  const { kid, alg, typ, jku } = readObject(json);
  return { kid: textOrNone(kid), alg: textOrNone(alg), typ: textOrNone(typ), jku: textOrNone(jku) };
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
