import ipaddr from "ipaddr.js";

/** An IP address in the form of ipaddr.js. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** The prefix under which a NAT64 router reaches the IPv4 internet (RFC 6052 §2.1). */
const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * The range in which the internet's IPv6 addresses are assigned. All others are special or not assigned (RFC 4291
 * §2.4).
 */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Addresses that look public and are not: inside a cloud they lead to the cloud's own services, which trust every
 * caller. No registry lists them. All other known addresses of that kind are in special ranges (169.254.169.254,
 * 100.100.100.200, 192.0.0.192, fd00:ec2::254).
 */
const cloudNetworks = [
  "168.63.129.16/32", // Azure: certificates and settings of a virtual machine
  "161.26.0.0/16", // IBM Cloud: its service network
  "166.8.0.0/14", // IBM Cloud: private endpoints
].map((network) => ipaddr.IPv4.parseCIDR(network));

/** The notation `::8.8.8.8`, obsolete for long: ipaddr.js would take it for `::ffff:8.8.8.8`, which it never was. */
const ipv4Compatible = /^[0:]*:\d+\./;

/**
 * The address of the machine that answers in the end. An IPv4 address behind `::ffff:0:0/96` or NAT64 counts as itself,
 * because the system or the router in between connects to it. Undefined when the text is no IP address.
 */
export function parseReachedAddress(text: string): IpAddress | undefined {
  if (!ipaddr.isValid(text) || ipv4Compatible.test(text)) return undefined;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(nat64) ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

/** Addresses with the same first bits. */
export type Network = readonly [IpAddress, bits: number];

/** A network such as `10.0.0.0/8`, or that of one address; undefined when the text is neither. */
export function parseNetwork(text: string): Network | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = parseReachedAddress(text);
  return address && [address, address.kind() === "ipv4" ? 32 : 128];
}

/** Whether a network has this address. */
export function contains([network, bits]: Network, address: IpAddress): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

/**
 * Whether an address belongs to the public internet. The addresses that IANA's registries call special do not:
 * loopback, private, link-local (with the metadata services of clouds), shared, multicast, documentation, benchmarks,
 * and tunnels to places that cannot be seen from here (6to4, Teredo, NAT64 of a site). Neither do the clouds' own
 * addresses.
 */
export function isPublicAddress(address: IpAddress): boolean {
  // "unicast" is what ipaddr.js calls an address without a special range.
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4
    ? !cloudNetworks.some((network) => address.match(network))
    : address.match(globalUnicast);
}
