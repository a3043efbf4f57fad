import type { IncomingHttpHeaders } from "node:http";
import { nodeAddress, parseForwarded } from "./forwarded-field.ts";
import { formatRequestUrl } from "./request-url.ts";
import { type Connection, type IsTrustedProxy, parseTrustedProxies, trustedOnce } from "./trusted-proxies.ts";

/** What of a request tells where it was sent to. */
export interface ForwardedRequest {
  /** What the request came over; the same object for all requests of one connection. */
  readonly connection: Connection | undefined;
  /** As it came here: absolute. */
  readonly url: string;
  readonly fields: IncomingHttpHeaders;
}

/**
 * The base URL by which a request's caller reaches this server, without a trailing slash; undefined when no trusted proxy has
 * said so, or what it said is malformed or contradicts itself.
 */
export type ReadForwardedUrl = (request: ForwardedRequest) => string | undefined;

/** What header fields say of where a request was sent to; each member may be left out. */
interface Forwarding {
  /** `http` or `https`. */
  readonly scheme?: string | undefined;
  /** As a URL has it: in lower case, IPv6 in brackets. */
  readonly hostname?: string | undefined;
  readonly port?: string | undefined;
  /** "", or one that begins with a slash and does not end with one. */
  readonly prefix?: string | undefined;
}

/** Why nothing that is said counts. */
class Refusal {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Longest header field that is looked at: proxies write a few hundred characters at most. */
const maxFieldLength = 2_048;

/** Segments of letters and digits, `.`, `_`, `~`, `-`; nothing that a proxy, a browser and a server could read differently. */
const prefixPattern = /^(?:\/[A-Za-z0-9._~-]+)+$/;

/**
 * Reads `Forwarded` (RFC 7239) and `X-Forwarded-Proto`, `-Host`, `-Port` and `-Prefix`, of requests whose socket belongs to a
 * trusted proxy.
 *
 * Of `Forwarded` that element counts which the outermost trusted proxy has written: from the right, as long as the address
 * that an element was received from (`for`) is trusted, too, the one before it is looked at. Of an X-Forwarded field only the
 * last value counts, because these lists do not say who wrote what: it is what the proxy next to us has set or added.
 * Where both are there they complete each other; what both say must be the same, or none of it counts.
 *
 * @param warn told of each reason for which something was not taken, once
 * @throws Error when an entry is no address, network or `loopback`
 */
export function createForwardedUrlReader(
  trustedProxies: readonly string[],
  warn: (message: string) => void = () => {},
): ReadForwardedUrl {
  const isTrusted = parseTrustedProxies(trustedProxies);
  const isTrustedConnection = trustedOnce(isTrusted);
  const told = new Set<string>();
  return ({ connection, url, fields }) => {
    if (connection === undefined || !isTrustedConnection(connection)) return undefined;
    const said = merge(readForwarded(fields, isTrusted), readXForwarded(fields));
    if (!(said instanceof Refusal)) return formatBaseUrl(said, url);
    if (!told.has(said.reason)) {
      told.add(said.reason);
      warn(`what a trusted proxy says about the URL of this server does not count: ${said.reason}`);
    }
    return undefined;
  };
}

/** Whatever is left out is as the request came here. */
function formatBaseUrl(
  { scheme, hostname, port, prefix }: Forwarding,
  requestUrl: string,
): string | undefined {
  const own = URL.parse(requestUrl);
  if (own === null || [scheme, hostname, port, prefix].every((member) => member === undefined))
    return undefined;
  const host = hostname ?? own.hostname;
  const ownPort = hostname === undefined ? own.port : "";
  const authority = `${host}:${ownPort === "" ? (port ?? "") : ownPort}`;
  // The parser leaves the standard port out.
  const url = URL.parse(`${scheme ?? own.protocol.slice(0, -1)}://${authority}`);
  return url === null ? undefined : url.origin + (prefix ?? "");
}

/** What two kinds of fields say together. */
function merge(standard: Forwarding | Refusal, customary: Forwarding | Refusal): Forwarding | Refusal {
  if (standard instanceof Refusal) return standard;
  if (customary instanceof Refusal) return customary;
  for (const [member, field] of [
    ["scheme", "Proto"],
    ["hostname", "Host"],
    ["port", "Port"],
  ] as const) {
    const [one, other] = [standard[member], customary[member]];
    if (one !== undefined && other !== undefined && one !== other) {
      const what = member === "hostname" ? "host" : member;
      return new Refusal(`Forwarded and X-Forwarded-${field} tell different ${what}s`);
    }
  }
  return {
    scheme: standard.scheme ?? customary.scheme,
    hostname: standard.hostname ?? customary.hostname,
    port: standard.port ?? customary.port,
    prefix: customary.prefix,
  };
}

function readForwarded(fields: IncomingHttpHeaders, isTrusted: IsTrustedProxy): Forwarding | Refusal {
  const text = fields.forwarded;
  if (text === undefined) return {};
  const elements = text.length > maxFieldLength ? undefined : parseForwarded(text);
  // Each was written by whom the one to its right was received from, and the last by our peer.
  const outermost =
    elements?.findLast((element) => !isTrusted(nodeAddress(element.get("for")))) ?? elements?.[0];
  const scheme = parseScheme(outermost?.get("proto"));
  const host = parseHost(outermost?.get("host"));
  if (outermost === undefined || scheme === null || host === null) return malformed("Forwarded");
  return { scheme, ...host };
}

function readXForwarded(fields: IncomingHttpHeaders): Forwarding | Refusal {
  const scheme = parseScheme(lastValue(fields["x-forwarded-proto"]));
  if (scheme === null) return malformed("X-Forwarded-Proto");
  const host = parseHost(lastValue(fields["x-forwarded-host"]));
  if (host === null) return malformed("X-Forwarded-Host");
  const port = parsePort(lastValue(fields["x-forwarded-port"]));
  if (port === null) return malformed("X-Forwarded-Port");
  const prefix = parsePrefix(lastValue(fields["x-forwarded-prefix"]));
  if (prefix === null) return malformed("X-Forwarded-Prefix");
  return { scheme, hostname: host?.hostname, port: host?.port ?? port, prefix };
}

function malformed(field: string): Refusal {
  return new Refusal(`${field} is malformed`);
}

/** The last of a list; of a field that is too long, something that is wrong wherever it stands. */
function lastValue(field: string | string[] | undefined): string | undefined {
  const text = typeof field === "string" ? field : field?.at(-1);
  return text === undefined || text.length <= maxFieldLength ? text?.split(",").at(-1)?.trim() : "?";
}

// Each of these gives undefined for what is left out, and null for what is malformed.

function parseScheme(text: string | undefined): string | null | undefined {
  const scheme = text?.toLowerCase();
  return scheme === undefined || scheme === "http" || scheme === "https" ? scheme : null;
}

function parseHost(text: string | undefined): Pick<Forwarding, "hostname" | "port"> | null | undefined {
  if (text === undefined) return undefined;
  // The pattern of a request's own authority: nothing that could start a path. The parser makes one spelling of many.
  const url = URL.parse(formatRequestUrl("http", text, "/") ?? "");
  const [, port = ""] = /:(\d*)$/.exec(text.replace(/^\[[^\]]*\]/, "")) ?? [];
  return url && { hostname: url.hostname, port: port === "" ? undefined : String(Number(port)) };
}

function parsePort(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined;
  const isPort = /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
  return isPort ? String(Number(text)) : null;
}

function parsePrefix(text: string | undefined): string | null | undefined {
  const path = text?.endsWith("/") === true ? text.slice(0, -1) : text;
  const isPlain = (given: string) =>
    prefixPattern.test(given) && !given.split("/").some((each) => each === "." || each === "..");
  return path === undefined || path === "" || isPlain(path) ? path : null;
}
