import type { IncomingHttpHeaders } from "node:http";
import { formatRequestUrl } from "../port/http-head.ts";
import { parseForwarded } from "./forwarded-field.ts";
import { parseTrustedProxies, type RemoteEnd, trustedOnce } from "./trusted-proxies.ts";

/** The parts of a request that tell where it was sent to. */
export interface ForwardedRequest {
  /** The connection of the request; the same object for all its requests. */
  readonly connection: RemoteEnd | undefined;
  /** The absolute URL with which the request arrived here. */
  readonly url: string;
  readonly fields: IncomingHttpHeaders;
}

/**
 * The base URL by which a request's caller reaches this server, without a trailing slash. Undefined when no trusted
 * proxy told one, or when what it told is malformed or contradicts itself.
 */
export type ReadForwardedUrl = (request: ForwardedRequest) => string | undefined;

/** Longest header field that is looked at: proxies write a few hundred characters at most. */
const maxFieldLength = 2_048;

/**
 * Reads `X-Forwarded-Proto` and `X-Forwarded-Host`, or `Forwarded` (RFC 7239) with `proto` and `host`, of requests whose socket
 * belongs to a trusted proxy. Of each list the last entry counts, because it is what the proxy next to us has set or added.
 * Where both kinds of fields name a URL, it must be the same, or none counts. A part that a proxy leaves out is taken from the request
 * as it came here.
 *
 * @param warn gets each reason for which fields did not count, once
 * @throws Error when an entry is no address, network or `loopback`
 */
export function createForwardedUrlReader(
  trustedProxies: readonly string[],
  warn: (message: string) => void = () => {},
): ReadForwardedUrl {
  const isTrustedConnection = trustedOnce(parseTrustedProxies(trustedProxies));
  const told = new Set<string>();
  function refuse(reason: string): undefined {
    if (!told.has(reason)) {
      told.add(reason);
      warn(`what a trusted proxy says about the URL of this server does not count: ${reason}`);
    }
  }
  return ({ connection, url, fields }) => {
    if (connection === undefined || !isTrustedConnection(connection)) return undefined;
    const standard = readForwarded(fields, url);
    const customary = readXForwarded(fields, url);
    if (standard === null) return refuse("Forwarded is malformed");
    if (customary === null) return refuse("X-Forwarded-Proto or X-Forwarded-Host is malformed");
    if (standard !== undefined && customary !== undefined && standard !== customary) {
      return refuse("Forwarded and X-Forwarded-Proto or X-Forwarded-Host tell different URLs");
    }
    return standard ?? customary;
  };
}

// Each of these gives undefined where nothing is said, and null where that is malformed.

function readForwarded({ forwarded }: IncomingHttpHeaders, requestUrl: string): string | null | undefined {
  if (forwarded === undefined) return undefined;
  const elements = forwarded.length > maxFieldLength ? undefined : parseForwarded(forwarded);
  const last = elements?.at(-1);
  return last === undefined ? null : formatBaseUrl(last.get("proto"), last.get("host"), requestUrl);
}

function readXForwarded(fields: IncomingHttpHeaders, requestUrl: string): string | null | undefined {
  const [scheme, host] = [fields["x-forwarded-proto"], fields["x-forwarded-host"]].map(lastValue);
  return formatBaseUrl(scheme, host, requestUrl);
}

/** The last value of a list. Of a field that is too long, a value that is malformed for every use. */
function lastValue(field: string | string[] | undefined): string | undefined {
  const text = typeof field === "string" ? field : field?.at(-1);
  return text === undefined || text.length <= maxFieldLength ? text?.split(",").at(-1)?.trim() : "?";
}

/** @param host with its port, if that is not the scheme's own */
function formatBaseUrl(
  scheme: string | undefined,
  host: string | undefined,
  requestUrl: string,
): string | null | undefined {
  if (scheme === undefined && host === undefined) return undefined;
  if (!/^https?$/i.test(scheme ?? "http")) return null;
  // The pattern of a request's own authority: nothing that could start a path.
  if (host !== undefined && formatRequestUrl("http", host, "/") === undefined) return null;
  const own = URL.parse(requestUrl);
  // The parser makes one spelling of many, and leaves the standard port out.
  const url = own && URL.parse(`${scheme ?? own.protocol.slice(0, -1)}://${host ?? own.host}`);
  return url?.origin ?? null;
}
