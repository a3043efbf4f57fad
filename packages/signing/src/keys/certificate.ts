import { type DerElement, derTags, readDer } from "./der.ts";

/** What a certificate says of its key (RFC 5280 §4.1). */
export interface CertifiedKey {
  /** SubjectPublicKeyInfo, as DER. */
  readonly spki: Uint8Array<ArrayBuffer>;
  /** Its validity, in seconds since 1970: from `nbf` on, before `exp`. */
  readonly nbf: number;
  readonly exp: number;
  /** Names, as DER. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
}

/**
 * Reads a certificate. Who has issued it is not looked at: whoever names it as a trusted key answers for it.
 *
 * @returns undefined when it is none
 */
export function readCertificate(bytes: Uint8Array<ArrayBuffer>): CertifiedKey | undefined {
  const certificate = insideSequence(only(readDer(bytes)));
  const fields = insideSequence(certificate?.[0]);
  // The version stands first, but for certificates of version 1.
  const offset = fields?.[0]?.tag === derTags.context0 ? 1 : 0;
  const [, , issuer, validity, subject, spki] = fields?.slice(offset) ?? [];
  const [notBefore, notAfter] = insideSequence(validity) ?? [];
  const nbf = readTime(notBefore);
  const last = readTime(notAfter);
  if (spki?.tag !== derTags.sequence || nbf === undefined || last === undefined) return undefined;
  if (issuer === undefined || subject === undefined) return undefined;
  return { spki: spki.bytes, nbf, exp: last + 1, issuer: issuer.bytes, subject: subject.bytes };
}

function only(elements: readonly DerElement[] | undefined): DerElement | undefined {
  return elements?.length === 1 ? elements[0] : undefined;
}

function insideSequence(element: DerElement | undefined): readonly DerElement[] | undefined {
  return element?.tag === derTags.sequence ? readDer(element.content) : undefined;
}

const ascii = new TextDecoder();

/** Seconds since 1970 (RFC 5280 §4.1.2.5): `YYMMDDHHMMSSZ` until 2049, `YYYYMMDDHHMMSSZ` from then on. */
function readTime(element: DerElement | undefined): number | undefined {
  if (element?.tag !== derTags.utcTime && element?.tag !== derTags.generalizedTime) return undefined;
  const text = ascii.decode(element.content);
  const digits = element.tag === derTags.utcTime ? `${text < "50" ? "20" : "19"}${text}` : text;
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? undefined : time / 1000;
}
