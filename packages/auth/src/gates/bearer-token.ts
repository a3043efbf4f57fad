import type { Credentials, Refusal } from "../gate.ts";

/** The longest token that is looked at, in characters. */
export const maxTokenLength: number = 16 * 1024;

const syntax = /^bearer +([\w\-.~+/]+=*) *$/i;

/**
 * The bearer token of a request (RFC 6750 §2.1). A request with two `Authorization` fields has none: a proxy may have
 * checked the other one.
 *
 * @returns undefined when the request says nothing by this scheme
 */
export function readBearerToken(credentials: Credentials): string | Refusal | undefined {
  const field = readAuthorization(credentials, "bearer");
  return typeof field === "string" ? parseBearerToken(field) : field;
}

/** The token in a value of `Authorization`. */
export function parseBearerToken(field: string): string | Refusal {
  if (field.length > maxTokenLength) {
    return { refused: `the token is longer than ${maxTokenLength} characters` };
  }
  return syntax.exec(field)?.[1] ?? { refused: "the bearer token is malformed" };
}

/** The value of `Authorization`, if it is of this scheme (lower case). */
export function readAuthorization(credentials: Credentials, scheme: string): string | Refusal | undefined {
  const field = credentials.header.get("authorization");
  if (field === null) return undefined;
  if (credentials.countFields("authorization") > 1) {
    return { refused: "the request has more than one Authorization field" };
  }
  const isOurs =
    field.length >= scheme.length &&
    field.slice(0, scheme.length).toLowerCase() === scheme &&
    (field.length === scheme.length || field[scheme.length] === " ");
  return isOurs ? field : undefined;
}
