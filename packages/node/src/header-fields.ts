import type { IncomingHttpHeaders } from "node:http";
import type { OutgoingHttpHeaders } from "node:http2";

/** Fields that HTTP/2 forbids (RFC 9113 §8.2.2), because they are about one connection. */
const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

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
