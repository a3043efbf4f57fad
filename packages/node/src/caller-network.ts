import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";
import { nodeAddress, parseForwarded } from "./forwarded-field.ts";
import { parseReachedAddress } from "./public-address.ts";
import { type Connection, type IsTrustedProxy, parseTrustedProxies } from "./trusted-proxies.ts";

/** Where a request's caller is: IPv4 address, or IPv6 network of 64 bits; undefined when the connection does not say. */
export type ReadCallerNetwork = (
  connection: Connection | undefined,
  fields: IncomingHttpHeaders,
) => string | undefined;

/** Longest header field that is looked at: proxies write a few hundred characters at most. */
const maxFieldLength = 2_048;

/**
 * Reads where callers are: at the other end of the connection or, when that is a trusted proxy, where `Forwarded` (`for`) or
 * `X-Forwarded-For` says. Both are read from the right, because each proxy adds whom it was called by at the end: what counts is
 * the first that is no trusted proxy. What is malformed, and two fields that say different things, do not count: then it is
 * the proxy that shares.
 *
 * @throws Error when an entry is no address, network or `loopback`
 */
export function createCallerNetworkReader(trustedProxies: readonly string[]): ReadCallerNetwork {
  const isTrusted = parseTrustedProxies(trustedProxies);
  return (connection, fields) => {
    const peer = connection?.remoteAddress;
    if (trustedProxies.length === 0 || peer === undefined || !isTrusted(peer)) return toNetwork(peer);
    return readForwardedFor(fields, isTrusted) ?? toNetwork(peer);
  };
}

function readForwardedFor(fields: IncomingHttpHeaders, isTrusted: IsTrustedProxy): string | undefined {
  const standard = fields.forwarded;
  const given = fields["x-forwarded-for"];
  const customary = typeof given === "string" ? given : given?.join(",");
  if ((standard?.length ?? 0) > maxFieldLength || (customary?.length ?? 0) > maxFieldLength) return undefined;
  const told = [
    standard === undefined ? undefined : (parseForwarded(standard)?.map((each) => each.get("for")) ?? []),
    customary?.split(",").map((each) => each.trim()),
  ]
    .filter((nodes) => nodes !== undefined)
    .map((nodes) => {
      const addresses = nodes.map(addressOf);
      return toNetwork(addresses.findLast((address) => !isTrusted(address)) ?? addresses[0]);
    });
  return told.every((network) => network === told[0]) ? told[0] : undefined;
}

/** An IPv6 address stands in `X-Forwarded-For` without brackets, too. */
function addressOf(node: string | undefined): string | undefined {
  return node !== undefined && ipaddr.isValid(node) ? node : nodeAddress(node);
}

function toNetwork(text: string | undefined): string | undefined {
  if (text === undefined || ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  const address = parseReachedAddress(text.replace(/%.*$/, "")); // without the zone of a link-local one
  if (address === undefined || address instanceof ipaddr.IPv4) return address?.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
}
