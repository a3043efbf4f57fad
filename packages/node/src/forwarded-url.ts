import type { IncomingHttpHeaders } from "node:http";
import { formatRequestUrl } from "./request-url.ts";
import { type IsTrustedProxy, parseTrustedProxies } from "./trusted-proxies.ts";

/** What is known of one request besides its header fields. */
export interface ForwardedRequest {
  /** Address at the other end of the socket. */
  readonly peer: string | undefined;
  /** Of the socket. */
  readonly scheme: "http" | "https";
  /** `:authority` or `host`. */
  readonly authority: string | undefined;
  readonly fields: IncomingHttpHeaders;
}

/**
 * The base URL by which a request's caller reaches this server, without a trailing slash; undefined when no trusted proxy has
 * said so, or what it said is malformed or contradicts itself.
 */
export type ReadForwardedUrl = (request: ForwardedRequest) => string | undefined;

/** What one kind of header fields says of where a request was sent to. */
interface Forwarding {
  readonly scheme: string | undefined;
  readonly host: string | undefined;
  readonly port: string | undefined;
}

/** Longest header field that is looked at: proxies write a few hundred characters at most. */
const maxFieldLength = 2_048;

/** Segments of letters and digits, `.`, `_`, `~`, `-`; nothing that a proxy, a browser and a server could read differently. */
const prefixPattern = /^(?:\/[A-Za-z0-9._~-]+)+$/;

/** One `name=value` of `Forwarded`; the value is a token or a quoted string (RFC 7239 §4). */
const pairPattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)")$/;

/** What lies between separators, where quoted strings may hold these. */
const elementPattern = /(?:[^,"]|"(?:[^"\\]|\\.)*")+/g;
const itemPattern = /(?:[^;"]|"(?:[^"\\]|\\.)*")+/g;

/**
 * Reads `Forwarded` (RFC 7239) and `X-Forwarded-Proto`, `-Host`, `-Port` and `-Prefix`, of requests whose socket belongs to a
 * trusted proxy.
 *
 * Of `Forwarded` that element counts which the outermost trusted proxy has written: from the right, as long as the address
 * that an element was received from (`for`) is trusted, too, the one before it is looked at. Of an X-Forwarded field only the
 * last value counts, because these lists do not say who wrote what: it is what the proxy next to us has set or added.
 * Where both are there they must say the same, so that a proxy that knows one of them does not let the other through.
 *
 * @throws Error when an entry is no address, network or `loopback`
 */
export function createForwardedUrlReader(trustedProxies: readonly string[]): ReadForwardedUrl {
  const isTrusted = parseTrustedProxies(trustedProxies);
  return (request) => {
    if (!isTrusted(request.peer)) return undefined;
    const { fields } = request;
    const prefix = parsePrefix(lastValue(fields["x-forwarded-prefix"]) ?? "");
    const forwardings = [readForwarded(fields, isTrusted), readXForwarded(fields)];
    if (prefix === undefined || forwardings.includes("malformed")) return undefined;
    const said = forwardings.filter((each) => each !== undefined && each !== "malformed");
    if (said.length === 0 && prefix !== "") said.push(nothing);
    const [origin, ...others] = said.map((each) => formatOrigin(each, request));
    return origin === undefined || others.some((other) => other !== origin) ? undefined : origin + prefix;
  };
}

const nothing: Forwarding = { scheme: undefined, host: undefined, port: undefined };

function formatOrigin(forwarding: Forwarding, request: ForwardedRequest): string | undefined {
  const scheme = (forwarding.scheme ?? request.scheme).toLowerCase();
  const host = forwarding.host ?? request.authority;
  if ((scheme !== "http" && scheme !== "https") || host === undefined) return undefined;
  const { port } = forwarding;
  const authority = port === undefined || hasPort(host) ? host : `${host}:${port}`;
  // The parser makes one spelling of many, and leaves the standard port out.
  return URL.parse(formatRequestUrl(scheme, authority, "/") ?? "")?.origin;
}

function readForwarded(
  fields: IncomingHttpHeaders,
  isTrusted: IsTrustedProxy,
): Forwarding | "malformed" | undefined {
  const text = fields.forwarded;
  if (text === undefined) return undefined;
  const elements = text.length > maxFieldLength ? undefined : splitList(text, elementPattern, ",");
  const written = elements?.map(parsePairs).reverse() ?? [];
  if (written.length === 0 || written.includes(undefined)) return "malformed";
  // Each was written by whom the one to its right was received from, and the last by our peer.
  const outermost = written.find((pairs) => !isTrusted(nodeAddress(pairs?.get("for")))) ?? written.at(-1);
  return sayingSomething(outermost?.get("proto"), outermost?.get("host"), undefined);
}

function sayingSomething(
  scheme: string | undefined,
  host: string | undefined,
  port: string | undefined,
): Forwarding | undefined {
  return scheme === undefined && host === undefined && port === undefined
    ? undefined
    : { scheme, host, port };
}

/** Undefined when there is text that belongs to no item. */
function splitList(text: string, pattern: RegExp, separator: string): readonly string[] | undefined {
  const items = text.match(pattern) ?? [];
  return items.join(separator) === text
    ? items.map((item) => item.trim()).filter((item) => item !== "")
    : undefined;
}

function parsePairs(element: string): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>();
  for (const item of splitList(element, itemPattern, ";") ?? ["?"]) {
    const [, name = "", token, quoted] = pairPattern.exec(item) ?? [];
    const key = name.toLowerCase();
    if (key === "" || pairs.has(key)) return undefined;
    pairs.set(key, token ?? (quoted ?? "").replaceAll(/\\(.)/g, "$1"));
  }
  return pairs;
}

/** `192.0.2.60`, `192.0.2.60:4711`, `[2001:db8::1]:4711`; names and `unknown` are no address. */
function nodeAddress(node: string | undefined): string | undefined {
  if (node === undefined) return undefined;
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(node);
  return bracketed?.[1] ?? node.replace(/:\d+$/, "");
}

function readXForwarded(fields: IncomingHttpHeaders): Forwarding | "malformed" | undefined {
  const port = lastValue(fields["x-forwarded-port"]);
  if (port !== undefined && !isPort(port)) return "malformed";
  return sayingSomething(lastValue(fields["x-forwarded-proto"]), lastValue(fields["x-forwarded-host"]), port);
}

/** The last of a list; of a field that is too long, something that is wrong wherever it stands. */
function lastValue(field: string | string[] | undefined): string | undefined {
  const text = typeof field === "string" ? field : field?.at(-1);
  return text === undefined || text.length <= maxFieldLength ? text?.split(",").at(-1)?.trim() : "?";
}

function parsePrefix(text: string): string | undefined {
  const path = text.endsWith("/") ? text.slice(0, -1) : text;
  const isPlain = prefixPattern.test(path) && !path.split("/").some((each) => each === "." || each === "..");
  return path === "" || isPlain ? path : undefined;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function hasPort(host: string): boolean {
  return /:\d*$/.test(host.replace(/^\[[^\]]*\]/, ""));
}
