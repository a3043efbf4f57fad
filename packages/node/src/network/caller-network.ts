import type { IncomingHttpHeaders } from "node:http";
import { isIP, isIPv4 } from "node:net";
import { ownText } from "@a2a-connect/core/internal";
import ipaddr from "ipaddr.js";
import { nodeAddress, parseForwarded } from "./forwarded-field.ts";
import { parseReachedAddress } from "./public-address.ts";
import { type IsTrustedProxy, parseTrustedProxies, type RemoteEnd, trustedOnce } from "./trusted-proxies.ts";

/** Where a trusted proxy says that a request comes from; undefined when it says nothing, or the connection is no trusted proxy's. */
export type ReadForwardedFor = (
  connection: RemoteEnd | undefined,
  fields: IncomingHttpHeaders,
) => string | undefined;

/** Longest header field that is read: proxies write a few hundred characters at most. */
const maxFieldLength = 2_048;

/** Addresses that are read: no request comes through more proxies. */
const maxAddresses = 32;

/**
 * Reads the addresses of callers behind trusted proxies: from `Forwarded` (`for`) or `X-Forwarded-For`. Each proxy adds the
 * address of its own caller at the end of such a field. So the fields are read from the right, and the first address that is
 * not a trusted proxy counts. Malformed fields, and two fields that contradict each other, do not count: then the caller is
 * the proxy. The fields of a request are read once, however often they are asked for.
 *
 * @throws Error when an entry is no address, network or `loopback`
 */
export function createForwardedForReader(trustedProxies: readonly string[]): ReadForwardedFor {
  const isTrusted = parseTrustedProxies(trustedProxies);
  const isProxy = trustedOnce(isTrusted);
  const known = new WeakMap<IncomingHttpHeaders, { readonly network: string | undefined }>();
  return (connection, fields) => {
    if (connection === undefined || !isProxy(connection)) return undefined;
    const read = known.get(fields) ?? { network: readForwardedFor(fields, isTrusted) };
    known.set(fields, read);
    return read.network;
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
      const last = nodes.slice(-maxAddresses);
      // Not all are made into addresses: callers may have written two thousand before those of the proxies.
      const index = last.findLastIndex((node) => !isTrusted(addressOf(node)));
      return toNetwork(addressOf(last[Math.max(index, 0)]));
    });
  const [network] = told;
  if (network === undefined || told.some((other) => other !== network)) return undefined;
  return ownText(network); // the counts of callers keep it
}

/** `X-Forwarded-For` has IPv6 addresses without brackets, too. (ipaddr.js makes an Error for each text that is not what it asks for.) */
function addressOf(node: string | undefined): string | undefined {
  return node !== undefined && isIP(node) !== 0 ? node : nodeAddress(node);
}

/**
 * An address as callers are told apart by it: IPv4 address, or IPv6 network of 64 bits, which belongs to one site. Undefined when the
 * text is no IP address.
 */
export function toNetwork(text: string | undefined): string | undefined {
  if (text === undefined || isIPv4(text)) return text;
  const address = parseReachedAddress(text.replace(/%.*/s, "")); // without the zone of a link-local one
  if (address === undefined || address instanceof ipaddr.IPv4) return address?.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
}
