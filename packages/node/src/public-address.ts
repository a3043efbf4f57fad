import ipaddr from "ipaddr.js";

/** An IP address, as ipaddr.js takes it apart. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** The prefix under which a NAT64 router reaches the IPv4 internet (RFC 6052 §2.1). */
const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** Where the internet's IPv6 addresses are given out: all else is special, or nobody's yet (RFC 4291 §2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Addresses that look public and are not: inside a cloud they lead to services of its own that trust every caller that reaches them.
 * No registry lists them. All others of that kind known lie in special ranges (169.254.169.254, 100.100.100.200, 192.0.0.192,
 * fd00:ec2::254).
 */
const cloudNetworks = [
  "168.63.129.16/32", // Azure: certificates and settings of a virtual machine
  "161.26.0.0/16", // IBM Cloud: its service network
  "166.8.0.0/14", // IBM Cloud: private endpoints
].map((network) => ipaddr.IPv4.parseCIDR(network));

/** The notation `::8.8.8.8`, given up long ago: ipaddr.js would take it for `::ffff:8.8.8.8`, which it never was. */
const ipv4Compatible = /^[0:]*:\d+\./;

/**
 * The address whose machine answers in the end: an IPv4 address behind `::ffff:0:0/96` or NAT64 stands for itself,
 * because the system or the router in between connects to it. Undefined when the text is no IP address.
 */
export function parseReachedAddress(text: string): IpAddress | undefined {
  if (!ipaddr.isValid(text) || ipv4Compatible.test(text)) return undefined;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(nat64) ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

/**
 * Whether an address belongs to the public internet. Everything that the registries of IANA call special does not:
 * loopback, private, link-local (with the metadata services of clouds), shared, multicast, documentation, benchmarks, and
 * what tunnels to places that cannot be seen from here (6to4, Teredo, NAT64 of a site). Nor do the own addresses of clouds.
 */
export function isPublicAddress(address: IpAddress): boolean {
  // "unicast" is what ipaddr.js calls an address without a special range.
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4
    ? !cloudNetworks.some((network) => address.match(network))
    : address.match(globalUnicast);
}
