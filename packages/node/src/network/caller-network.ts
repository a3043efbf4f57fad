import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";
import { nodeAddress, parseForwarded } from "./forwarded-field.ts";
import { parseReachedAddress } from "./public-address.ts";
import { type Connection, type IsTrustedProxy, parseTrustedProxies } from "./trusted-proxies.ts";

/**
 * The address of a request's caller: IPv4 address, or IPv6 network of 64 bits; undefined when the connection has none.
 */
export type ReadCallerNetwork = (
  connection: Connection | undefined,
  fields: IncomingHttpHeaders,
) => string | undefined;

/** Longest header field that is read: proxies write a few hundred characters at most. */
const maxFieldLength = 2_048;

/**
 * Finds the addresses of callers: the other end of the connection or, when that is a trusted proxy, the address in
 * `Forwarded` (`for`) or `X-Forwarded-For`. Each proxy adds the address of its own caller at the end of such a field.
 * So the fields are read from the right, and the first address that is not a trusted proxy counts. Malformed fields,
 * and two fields that contradict each other, do not count: then the caller is the proxy.
 *
 * @throws Error when an entry is no address, network or `loopback`
 */
export function createCallerNetworkReader(trustedProxies: readonly string[]): ReadCallerNetwork {
  const isTrusted = parseTrustedProxies(trustedProxies);
  const peers = new WeakMap<
    Connection,
    { readonly network: string | undefined; readonly isProxy: boolean }
  >();
  const peerOf = (connection: Connection) => {
    let peer = peers.get(connection);
    if (peer === undefined) {
      const { remoteAddress } = connection;
      const isProxy = trustedProxies.length > 0 && remoteAddress !== undefined && isTrusted(remoteAddress);
      peer = { network: toNetwork(remoteAddress), isProxy };
      peers.set(connection, peer);
    }
    return peer;
  };
  return (connection, fields) => {
    const { network, isProxy } = connection === undefined ? noPeer : peerOf(connection);
    return (isProxy ? readForwardedFor(fields, isTrusted) : undefined) ?? network;
  };
}

const noPeer = { network: undefined, isProxy: false };

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

/** `X-Forwarded-For` has IPv6 addresses without brackets, too. */
function addressOf(node: string | undefined): string | undefined {
  return node !== undefined && ipaddr.isValid(node) ? node : nodeAddress(node);
}

/**
 * An address as callers are told apart by it: IPv4 address, or IPv6 network of 64 bits, which belongs to one site. Undefined when the
 * text is no IP address.
 */
export function toNetwork(text: string | undefined): string | undefined {
  if (text === undefined || ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  const address = parseReachedAddress(text.replace(/%.*/s, "")); // without the zone of a link-local one
  if (address === undefined || address instanceof ipaddr.IPv4) return address?.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
}
