import { type DerElement, derTags, readDer } from "./der.ts";

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
 * Reads a certificate. Who has issued it is not looked at: whoever names it as a trusted key answers for it.
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
