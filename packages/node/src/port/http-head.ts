import type { IncomingMessage } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import {
  maxAuthorityLength,
  mayBeIndex,
  packIndexes,
  parseForeignUrl,
  parseHttpUrl,
} from "@a2a-connect/core/internal";

/** reg-name, IPv4 or bracketed IPv6 with an optional port (RFC 3986 §3.2); no user info, nothing that could start a path. */
const authorityPattern = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/**
 * The absolute URL of a request, or undefined when its target or authority is malformed.
 *
 * The authority is what the caller claims: good for links, never for trust. It cannot contain a path.
 *
 * @param scheme of the socket, not of a forwarding header
 * @param authority `:authority` or `host`; undefined where HTTP/1.0 has none, which then is localhost
 * @param target origin form, `*` or absolute form (RFC 9112 §3.2)
 */
export function formatRequestUrl(
  scheme: "http" | "https",
  authority: string | undefined,
  target: string | undefined,
): string | undefined {
  if (target === undefined || target === "") return undefined;
  if (target.startsWith("/")) return withOrigin(scheme, authority ?? "localhost", target);
  if (target === "*") return withOrigin(scheme, authority ?? "localhost", "/*");
  const url = parseHttpUrl(target);
  return url && withOrigin(scheme, url.host, url.pathname + url.search);
}

/**
 * Whether an HTTP/1 request has the required `Host` fields: one, or before HTTP/1.1 perhaps none. Two are refused even
 * when they are equal (RFC 9112 §3.2): Node would take the first, and a proxy in front of it the last.
 */
export function hasItsHost({
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, "httpVersion" | "rawHeaders">): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== "1.1");
}

/**
 * The authority of an HTTP/2 request: `:authority`, and `host` where that is missing. Undefined when both are present
 * and differ (RFC 9113 §8.3.1). Node has made sure that each is present at most once, and at least one of them.
 */
export function readAuthority(headers: IncomingHttpHeaders): string | undefined {
  const { ":authority": authority, host } = headers;
  if (authority === undefined || host === undefined || authority === host) return authority ?? host;
  // The parser gives one spelling to many: lower case, and no port if it is the scheme's default.
  const [one, other] = [authority, host].map(
    (each) => parseForeignUrl(`${headers[":scheme"]}://${each}`)?.host,
  );
  return one !== undefined && one === other ? authority : undefined;
}

function withOrigin(scheme: string, authority: string, path: string): string | undefined {
  const origin = `${scheme}://${authority}`;
  // The pattern alone accepts `1.2.3.999` and port 99999, which `new URL` would refuse later, where it is harder to
  // answer.
  const isAuthority =
    authority.length <= maxAuthorityLength && authorityPattern.test(authority) && URL.canParse(origin);
  return isAuthority ? origin + path : undefined;
}

/** Fields that HTTP/2 forbids (RFC 9113 §8.2.2), because they are about one connection: Node throws for them, for trailers in a listener. */
const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te", // of requests
  "transfer-encoding",
  "upgrade",
]);

/**
 * Node's fields are small afterwards, though some names may be array indexes: of `1023` and `2573` it makes an object of 31 KB. A copy
 * has to be packed again.
 *
 * @param rawFields names and values in turn
 */
export function packFields(fields: IncomingHttpHeaders, rawFields: readonly string[]): void {
  if (rawFields.some((name, at) => at % 2 === 0 && mayBeIndex(name))) packIndexes(fields);
}

/** Node's request fields as `Headers`, without HTTP/2's pseudo fields. */
export function toHeaders(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const name in incoming) {
    const value = incoming[name];
    if (value === undefined || name.startsWith(":")) continue;
    if (typeof value === "string") headers.append(name, value);
    else for (const item of value) headers.append(name, item);
  }
  return headers;
}

/** Response fields for `ServerResponse.writeHead`: name, value, name, value; a repeated `set-cookie` stays repeated. */
export function toHttp1Fields(headers: Headers | undefined): string[] {
  const fields: string[] = [];
  for (const [name, value] of headers ?? []) {
    fields.push(name, value);
  }
  return fields;
}

/** Response or trailer fields for an HTTP/2 stream. */
export function toHttp2Fields(headers: Headers | undefined): OutgoingHttpHeaders {
  const fields: OutgoingHttpHeaders = {};
  headers?.forEach((value, name) => {
    if (!connectionFields.has(name) && name !== "set-cookie") fields[name] = value;
  });
  const cookies = headers?.getSetCookie() ?? [];
  if (cookies.length > 0) fields["set-cookie"] = cookies;
  return fields;
}

/**
 * The longest name of a request's field, in characters. V8 knows names of more than 16,383 by their length alone: each would be compared
 * with all others of that length, of any request.
 */
export const maxNameLength = 1_024;

/** @param rawHeaders names and values in turn */
export function hasLongName(rawHeaders: readonly string[]): boolean {
  return rawHeaders.some((name, at) => at % 2 === 0 && name.length > maxNameLength);
}

/**
 * The size by the rule of SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2). Node announces that limit but does not
 * enforce it.
 *
 * @param rawHeaders names and values in turn
 */
export function headerBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 16, 0);
}
