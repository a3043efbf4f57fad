import ipaddr from "ipaddr.js";
import { type IpAddress, parseReachedAddress } from "./public-address.ts";

/** Whether an address is that of a trusted proxy; false for undefined. */
export type IsTrustedProxy = (address: string | undefined) => boolean;

/** The connection of a request: a socket, or another object that knows the address at its other end. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
}

type Network = readonly [IpAddress, number];

const loopback = ["127.0.0.0/8", "::1/128"];

/**
 * Reads a list of proxies: addresses (`10.1.2.3`, `fd00::1`), networks (`10.0.0.0/8`) and the word `loopback` for this
 * machine. Names are not accepted: an attacker who controls a name's DNS could make himself trusted.
 *
 * @throws Error when an entry is none of these
 */
export function parseTrustedProxies(entries: readonly string[]): IsTrustedProxy {
  const networks = entries.flatMap((entry) => (entry === "loopback" ? loopback : [entry])).map(parseNetwork);
  return (text) => {
    const address = text === undefined ? undefined : parseReachedAddress(text);
    return address !== undefined && networks.some((network) => contains(network, address));
  };
}

/** The same for connections. Each is tested once, because its other end does not change. */
export function trustedOnce(isTrusted: IsTrustedProxy): (connection: Connection) => boolean {
  const known = new WeakMap<Connection, boolean>();
  return (connection) => {
    const trusted = known.get(connection) ?? isTrusted(connection.remoteAddress);
    known.set(connection, trusted);
    return trusted;
  };
}

function parseNetwork(text: string): Network {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = parseReachedAddress(text);
  if (address === undefined) {
    throw new Error(
      `a trusted proxy is an address, a network such as 10.0.0.0/8, or "loopback", not ${JSON.stringify(text)}`,
    );
  }
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

function contains([network, bits]: Network, address: IpAddress): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}
